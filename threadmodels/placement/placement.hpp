// SPDX-License-Identifier: BSL-1.0
// placement: where a new connection's I/O lives: running_loop, on_main_loop, on_loop_group, on_own_loop. One half of a
// threading model; the other half is compute.
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

/// A loop and its thread. The loop outlives the thread: a worker that has just returned a baton may still be inside
/// loop.post().
struct running_loop {
  explicit running_loop(std::unique_ptr<engine> io, const loop_options& options = {})
      : loop(std::move(io), clock::system(), options) {}
  event_loop loop;
  std::optional<loop_thread> thread;
};

/// Places every connection on the main loop.
class on_main_loop {
 public:
  void start(event_loop& main) noexcept { main_ = &main; }
  event_loop& place() noexcept { return *main_; }
  void stop() noexcept {}

 private:
  event_loop* main_ = nullptr;
};

/// Options of the loops of models 4 and 5.
struct loop_group_options {
  unsigned loops = 1;
  engine_kind engine = engine_kind::automatic;
  loop_tuning each = {};
  placement_options placement = {};
};

/// Places connections on a fixed group of loops.
class on_loop_group {
 public:
  explicit on_loop_group(loop_group_options options);
  void start(event_loop& main);
  /// [loop] Main loop only. Returns the loop of the next connection, and counts the connection there. `from` is empty
  /// for an outgoing connection. Throws what place_by throws, and std::out_of_range if it returns no loop's index.
  event_loop& place(const address& from = {});
  /// Returns whether place() uses the address.
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
    // Connections counted here and not yet released. Negative if the loop's own listeners accept: only their release is
    // counted.
    std::atomic<std::ptrdiff_t> open{0};
  };
  std::size_t choose(const address& from);
  std::size_t least_filled();
  void count_open() noexcept;
  void count(event_loop& loop, std::ptrdiff_t change) noexcept;

  loop_group_options options_;
  std::size_t next_ = 0;
  std::vector<std::unique_ptr<member>> ring_;
  std::vector<std::size_t> open_;  // counts that choose() uses, never negative
};

/// Gives each connection a blocking loop and a thread. When the connection has closed, its thread waits for the next
/// one. The thread that has waited for the shortest time is reused first. Starting and ending threads costs more than a
/// short connection.
class on_own_loop {
 public:
  static constexpr std::size_t spare_threads = 64;  ///< idle threads that are kept without a time limit
  /// An idle thread beyond `spare_threads` ends if it was not needed for this long. A thread whose loop has
  /// detached work stays (event_loop::has_detached_work()).
  static constexpr duration spare_time = std::chrono::seconds(1);
  /// Threads that end together. Few, because the main loop joins them and does not accept meanwhile.
  static constexpr std::size_t ending_at_once = 16;
  static constexpr duration ending_interval = spare_time / 16;

  explicit on_own_loop(std::size_t max_threads = 4096, const loop_tuning& tuning = {})
      : max_threads_(max_threads), options_{.tuning = tuning}, state_(std::make_unique<state>()) {}
  void start(event_loop& main) noexcept { state_->main = &main; }
  /// [loop] Main loop only. Returns an idle loop, or starts another one. Throws boost::system::system_error with
  /// errc::too_many_threads or errc::stopped, or with the system's error if it refuses a thread.
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
    std::vector<event_loop*> idle;  // the last one is reused first; has capacity for all loops: release() cannot fail
    std::size_t fewest_idle = 0;    // while watched: the fewest idle loops since the last check
    bool watched = false;           // more than spare_threads are idle, and a check is scheduled
    thread_list all;
    thread_list ending;  // used by the main loop; has capacity for ending_at_once
    loop_counters past;  // of loops that have ended
    std::size_t next_number = 0;
    bool stopping = false;
  };
  std::size_t max_threads_;
  loop_options options_;
  std::unique_ptr<state> state_;
};

}  // namespace quintet
