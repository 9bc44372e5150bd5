// SPDX-License-Identifier: BSL-1.0
// placement: where a new connection's I/O lives: running_loop, on_main_loop, on_loop_ring, on_own_loop. One half of a
// threading model; the other one is compute.
#pragma once

#include "../../net/engine/make_engine.hpp"
#include "../../net/loop/event_loop.hpp"
#include "../../net/loop/loop_thread.hpp"
#include "placement_options.hpp"

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace quintet {

/// The loop outlives its thread: a worker that has just sent a baton home may still be inside loop.post().
struct running_loop {
  explicit running_loop(std::unique_ptr<engine> io, const loop_options& options = {})
      : loop(std::move(io), clock::system(), options) {}
  event_loop loop;
  std::optional<loop_thread> thread;
};

/// Everything on the main loop.
class on_main_loop {
 public:
  void start(event_loop& main) noexcept { main_ = &main; }
  event_loop& place() noexcept { return *main_; }
  void stop() noexcept {}

 private:
  event_loop* main_ = nullptr;
};

/// The loops of models 4 and 5.
struct ring_options {
  unsigned loops = 1;
  engine_kind engine = engine_kind::automatic;
  loop_tuning each = {};
  placement_options placement = {};
};

/// A fixed ring of loops.
class on_loop_ring {
 public:
  explicit on_loop_ring(ring_options options);
  void start(event_loop& main);
  /// Without an address: for connections that this end has begun.
  event_loop& place(const address& from = {});
  /// Whether place() looks at the address.
  [[nodiscard]] bool wants_address() const noexcept {
    return options_.placement.place_by || options_.placement.policy == placement_policy::peer_hash;
  }
  void release(event_loop& loop) noexcept { count(loop, -1); }
  void occupy(event_loop& loop) noexcept { count(loop, 1); }
  void stop() noexcept;
  template <class F>
  void each_loop(F f) {
    for (const auto& m : ring_) f(m->running.loop);
  }
  template <class F>
  void each_counters(F f) const {
    for (const auto& m : ring_) f(m->running.loop.counters());
  }

 private:
  struct member {
    explicit member(std::unique_ptr<engine> io, const loop_options& options) : running(std::move(io), options) {}
    running_loop running;
    // Placed here, and not gone. Below zero where connections come that were not placed: the loop's own listeners'.
    std::atomic<std::ptrdiff_t> open{0};
  };
  std::size_t choose(const address& from);
  std::size_t least_filled();
  void look_at_open() noexcept;
  void count(event_loop& loop, std::ptrdiff_t change) noexcept;

  ring_options options_;
  std::size_t next_ = 0;
  std::vector<std::unique_ptr<member>> ring_;
  std::vector<std::size_t> open_;  // as choose() sees it
};

/// A blocking loop and a thread for each connection. The thread of a connection that has gone waits for the next one,
/// the one that has waited for the shortest time first. Making and ending threads costs more than a short connection.
class on_own_loop {
 public:
  static constexpr std::size_t spare_threads = 64;  ///< wait for a connection however long that takes
  /// Who waits beyond that ends when nobody has needed it for this long, and event_loop::has_detached_work() is false.
  static constexpr duration spare_time = std::chrono::seconds(1);
  /// A few at a time: the main loop joins them, and accepts nobody meanwhile.
  static constexpr std::size_t ending_at_once = 16;
  static constexpr duration ending_interval = spare_time / 16;

  explicit on_own_loop(std::size_t max_threads = 4096, const loop_tuning& tuning = {})
      : max_threads_(max_threads), options_{.tuning = tuning}, state_(std::make_unique<state>()) {}
  void start(event_loop& main) noexcept { state_->main = &main; }
  /// Throws boost::system::system_error with errc::too_many_threads, or what the system says to a new thread.
  event_loop& place();
  void release(event_loop& loop) noexcept;
  void stop() noexcept;
  template <class F>
  void each_counters(F f) const {
    const std::lock_guard lock(state_->mutex);
    f(state_->past);
    for (const auto& running : state_->all) f(running->loop.counters());
  }

 private:
  using thread_list = std::vector<std::unique_ptr<running_loop>>;
  struct state final : work_item, timer {
    state() noexcept : work_item(&state::watch) {}
    static void watch(work_item& item) noexcept;
    void expired() noexcept override;
    std::size_t end_spare(std::size_t most) noexcept;
    event_loop* main = nullptr;
    std::mutex mutex;
    std::vector<event_loop*> idle;  // the last one is the next to be used; with capacity for all: release() cannot fail
    std::size_t fewest_idle = 0;    // while they are watched: nobody has needed so many of them
    bool watched = false;           // there are more than spare_threads of them
    thread_list all;
    thread_list ending;  // the main loop's, with capacity for ending_at_once
    loop_counters past;  // of loops that are no more
    std::size_t next_number = 0;
    bool stopping = false;
  };
  std::size_t max_threads_;
  loop_options options_;
  std::unique_ptr<state> state_;
};

}  // namespace quintet
