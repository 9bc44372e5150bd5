// SPDX-License-Identifier: BSL-1.0
// asio_guest: the io_context that lives inside an event_loop, for Asio clients of every kind.
#pragma once

#include "../../base/clock.hpp"
#include "../../base/metrics/counter.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>

#include <atomic>
#include <memory>

namespace quintet {

/// While nothing is outstanding on the io_context the loop waits in its own engine, and the guest costs nothing but a
/// look. While something is, the loop waits in the io_context, which in turn watches the engine's descriptor. Where the
/// engine itself waits in an io_context the guest lives in that one, and there is nothing to do here.
class asio_guest {
 public:
  using context_type = boost::asio::io_context;

  /// `of_engine`: the engine's own, if it has one; it outlives the guest. `errors` counts handlers that leave with an
  /// exception.
  asio_guest(context_type* of_engine, counter& errors);
  ~asio_guest();
  asio_guest(const asio_guest&) = delete;
  asio_guest& operator=(const asio_guest&) = delete;
  [[nodiscard]] context_type& context() noexcept { return context_; }

  /// What it waits with is otherwise opened when it is first needed.
  void open_descriptors();
  /// [loop] Runs handlers that are ready, a limited number of them; returns whether any ran.
  bool poll();
  /// [any thread] At the last poll(): whether operations or posted work are outstanding, so that completions may come.
  [[nodiscard]] bool active() const noexcept { return active_.load(std::memory_order_relaxed); }
  /// [loop] Waits until something ran here, `engine_fd` (-1: none) is readable, or the time is over.
  bool wait(int engine_fd, duration longest);
  /// [loop] The engine's descriptor is not to be touched any more; the next wait() names another, or the same again.
  void unwatch() noexcept;
  /// [any thread] Ends a wait().
  void wake() noexcept;

 private:
  using descriptor = boost::asio::posix::basic_stream_descriptor<context_type::executor_type>;
  [[nodiscard]] bool watches(int engine_fd) noexcept;
  template <class Run>
  bool run_one(Run run);

  counter& errors_;
  std::unique_ptr<context_type> own_;
  context_type& context_;
  std::unique_ptr<descriptor> engine_;  // a borrowed descriptor: released, never closed
  bool armed_ = false;                  // a wait for the engine's descriptor is outstanding
  std::atomic<bool> active_{false};
  std::atomic<bool> stopped_by_wake_{false};
};

}  // namespace quintet
