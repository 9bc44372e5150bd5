// SPDX-License-Identifier: BSL-1.0
// priority_lane: a loop and a thread for connections that no other one can delay: heartbeats, health checks.
#pragma once

#include "../loop/drainage.hpp"
#include "../loop/loop_thread.hpp"
#include "../loop/thread_scheduling.hpp"
#include "../options/server_options.hpp"
#include "acceptor.hpp"
#include "admissions.hpp"
#include "heartbeat_monitor.hpp"
#include "reserves.hpp"
#include "server_statistics.hpp"

#include <concepts>
#include <functional>
#include <mutex>
#include <optional>

namespace quintet {

/// It accepts for itself, so that a busy main loop delays nobody, has its own limit of connections, and holds back what
/// it needs to let one in when the rest of the process has used up descriptors and memory.
class priority_lane {
 public:
  /// The function gets a connection's handle on the lane's loop, which it owns from then on. The registry is that of
  /// all connections of the server. Throws what engines do.
  priority_lane(const server_options& options, connection_registry& all, acceptor::place_function place);
  /// When its thread does not run: closes what is left.
  ~priority_lane();
  priority_lane(const priority_lane&) = delete;
  priority_lane& operator=(const priority_lane&) = delete;

  /// [before run] Binds and listens at once; returns where. Throws what socket_services::listen does.
  address listen(const listen_options& options);
  /// [before run] Starts the thread.
  void start();
  /// Stops and joins the thread; all connections have closed then.
  void finish() noexcept { thread_.reset(); }
  /// [any thread] Lets in those who wait already, and listens no more, a little later; until then `unfinished` counts
  /// the lane as it counts a connection. Throws std::bad_alloc.
  void close(drainage& unfinished);

  /// [any thread]
  [[nodiscard]] event_loop& loop() noexcept { return loop_; }
  [[nodiscard]] bool owns(const event_loop& loop) const noexcept { return &loop == &loop_; }
  /// [any thread] Counts the lane's connections.
  [[nodiscard]] admissions& admitted() noexcept { return admitted_; }
  /// [loop] Returns make(), which allocates a connection: if need be with the memory that is held back.
  template <std::invocable Make>
  auto with_memory(Make make) {
    return reserves_.with_memory(std::move(make));
  }
  /// [loop] One of its connections is gone.
  void left() noexcept { reserves_.refill(); }

  /// [any thread] What the thread has got of what it asked for; nothing before it runs.
  [[nodiscard]] thread_scheduling scheduling() const;
  /// [any thread] Adds what it has counted, also to the sums.
  void add_to(server_statistics& sum) const;

 private:
  void schedule() noexcept;
  void note(const thread_scheduling& got) noexcept;
  void look_at_use() noexcept;

  const priority_options options_;
  const log_hook& log_;
  const std::chrono::microseconds busy_poll_;
  const acceptor::place_function place_;
  admissions admitted_;
  mutable event_loop loop_;  // counters() is its own, non-const accessor
  reserves reserves_;
  acceptor accepts_;
  std::optional<heartbeat_monitor> monitor_;
  mutable std::mutex mutex_;
  thread_scheduling scheduling_;  // under it
  // The loop's; its thread is preferred for as long as it uses little.
  callback_timer<std::function<void()>> look_{[this] { look_at_use(); }};
  preference preferred_;
  time_point looked_at_{};
  duration used_{};
  int nice_ = 0;  // without preference
  std::optional<loop_thread> thread_;
};

}  // namespace quintet
