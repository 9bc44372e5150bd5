// SPDX-License-Identifier: BSL-1.0
// asio_guest: the io_context inside an event_loop, for Asio clients of every kind.
#pragma once

#if !defined(__cpp_rtti) && !defined(QUINTET_NO_RTTI)
#error \
    "Asio finds the services of an io_context by RTTI, and Quintet's libraries were compiled with it: compile sources that include <quintet/net/asio.hpp> or <quintet/net/connection_pool.hpp> without -fno-rtti, or build Quintet with -fno-rtti as a part of the project."
#endif

#include "../../base/clock.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>

#include <atomic>
#include <memory>

namespace quintet {

class event_loop;

/// Runs an io_context beside the loop's engine. While no operation is outstanding, the loop waits in its engine, and
/// the guest costs one check a turn. Otherwise the loop waits in the io_context, which watches the engine's descriptor.
/// If the engine itself waits in an io_context, the guest shares it and does nothing.
class asio_guest {
 public:
  using context_type = boost::asio::io_context;

  /// `of_engine`: the engine's io_context or nullptr; it must outlive the guest. `loop` notes the exceptions of
  /// handlers. Opens the descriptors of a context of its own. Throws boost::system::system_error.
  asio_guest(context_type* of_engine, event_loop& loop);
  ~asio_guest();
  asio_guest(const asio_guest&) = delete;
  asio_guest& operator=(const asio_guest&) = delete;
  [[nodiscard]] context_type& context() noexcept { return context_; }

  /// [loop] Runs ready handlers, up to a limit. Returns whether any ran.
  bool poll();
  /// [any thread] Whether operations or posted work were outstanding at the last poll().
  [[nodiscard]] bool active() const noexcept { return active_.load(std::memory_order_relaxed); }
  /// [loop] Waits until a handler has run, `engine_fd` is readable (-1: none), or `longest` has passed. Returns whether
  /// a handler ran.
  bool wait(int engine_fd, duration longest);
  /// [loop] Stops watching the engine's descriptor. The next wait() names another one, or the same one again.
  void unwatch() noexcept;
  /// [any thread] Ends a wait().
  void wake() noexcept;

 private:
  using descriptor = boost::asio::posix::basic_stream_descriptor<context_type::executor_type>;
  [[nodiscard]] bool watches(int engine_fd) noexcept;
  template <class Run>
  bool run_one(Run run);

  event_loop& loop_;
  std::unique_ptr<context_type> own_;
  context_type& context_;
  std::unique_ptr<descriptor> engine_;  // borrowed descriptor: released, never closed
  bool armed_ = false;                  // a wait for the engine's descriptor is outstanding
  std::atomic<bool> active_{false};
  std::atomic<bool> stopped_by_wake_{false};
};

}  // namespace quintet
