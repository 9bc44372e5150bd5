// SPDX-License-Identifier: BSL-1.0
// priority_loop: a loop with its own thread, for connections that ordinary ones must not delay: heartbeats.
#pragma once

#include "../loop/drain_tracker.hpp"
#include "../loop/loop_thread.hpp"
#include "../options/server_options.hpp"
#include "acceptor.hpp"
#include "connection_limiter.hpp"
#include "heartbeat_monitor.hpp"
#include "resource_reserve.hpp"
#include "server_statistics.hpp"
#include "thread_scheduling.hpp"

#include <concepts>
#include <functional>
#include <mutex>
#include <optional>

namespace quintet {

/// A loop that accepts its own connections, so that a busy main loop does not delay them. It has its own limit of
/// connections, and a reserve to accept with when the process has used up its descriptors or memory.
class priority_loop {
 public:
  /// `admit` runs on this loop and owns the handle that it gets. `all`: the registry of the server's connections.
  /// `model`: as for the acceptor. The registry, `options` and the model must outlive this object. Throws as
  /// make_engine(), and std::bad_alloc.
  priority_loop(const server_options& options, connection_registry& all, acceptor::admit_function admit,
                model_interface* model = nullptr);
  /// Stops and joins the thread, if it runs, and closes the remaining connections.
  ~priority_loop();
  priority_loop(const priority_loop&) = delete;
  priority_loop& operator=(const priority_loop&) = delete;

  /// [before run] Binds and listens at once; returns the address. Throws as socket_services::listen().
  address listen(const listen_options& options);
  /// [before run] Starts the listeners and the thread. Throws as loop_thread.
  void start();
  /// Stops and joins the thread. Afterwards all connections have closed.
  void finish() noexcept { thread_.reset(); }
  /// [any thread] Posts to the loop to accept the connections in the backlog and stop listening. Until then
  /// `unfinished` counts the post like a connection. Throws std::bad_alloc.
  void close(drain_tracker& unfinished);

  /// [any thread] Return the loop, and whether `loop` is that loop.
  [[nodiscard]] event_loop& loop() noexcept { return loop_; }
  [[nodiscard]] bool owns(const event_loop& loop) const noexcept { return &loop == &loop_; }
  /// [any thread] Returns the limiter that counts the priority loop's connections.
  [[nodiscard]] connection_limiter& limiter() noexcept { return limiter_; }
  /// [loop] Returns make(), which allocates a connection. Without memory, frees the reserve and calls make() again.
  template <std::invocable Make>
  auto with_memory(Make make) {
    return reserve_.with_memory(std::move(make));
  }
  /// [loop] Called when a connection of this loop has been destroyed.
  void left() noexcept { reserve_.refill(); }

  /// [any thread] Returns the scheduling that the kernel has granted to the thread; a default before it runs.
  [[nodiscard]] thread_scheduling scheduling() const;
  /// [any thread] Adds the counters to the sums, and sets the fields of the priority loop.
  void add_to(server_statistics& sum) const;

 private:
  address listen_at(const listen_options& options);
  void schedule() noexcept;
  void note(const thread_scheduling& got) noexcept;
  void check_cpu_usage() noexcept;

  const priority_options options_;
  const log_hook& log_;
  const std::chrono::microseconds busy_poll_;
  const acceptor::admit_function admit_;
  connection_limiter limiter_;
  mutable event_loop loop_;  // counters() is its own, non-const accessor
  resource_reserve reserve_;
  acceptor accepts_;
  std::optional<heartbeat_monitor> monitor_;
  mutable std::mutex mutex_;
  thread_scheduling scheduling_;  // guarded by mutex_
  // Used on the loop's thread only: ends the preference while the thread uses much CPU time.
  callback_timer<std::function<void()>> check_timer_{[this] { check_cpu_usage(); }};
  priority_throttle throttle_;
  time_point checked_at_{};
  duration used_{};
  int nice_ = 0;  // the thread's value before it was preferred
  std::optional<loop_thread> thread_;
};

}  // namespace quintet
