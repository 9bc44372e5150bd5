// SPDX-License-Identifier: BSL-1.0
// priority_loop: a loop and a thread for connections that no other one can delay: heartbeats, health checks.
#pragma once

#include "../loop/drainage.hpp"
#include "../loop/loop_thread.hpp"
#include "thread_scheduling.hpp"
#include "../options/server_options.hpp"
#include "acceptor.hpp"
#include "connection_limiter.hpp"
#include "heartbeat_monitor.hpp"
#include "resource_reserve.hpp"
#include "server_statistics.hpp"

#include <concepts>
#include <functional>
#include <mutex>
#include <optional>

namespace quintet {

/// It accepts for itself, so that a busy main loop delays nobody, has its own limit of connections, and holds back what
/// it needs to let one in when the rest of the process has used up descriptors and memory.
class priority_loop {
 public:
  /// The function gets a connection's handle on the priority loop's loop, which it owns from then on. The registry is
  /// that of all connections of the server. Throws what engines do.
  priority_loop(const server_options& options, connection_registry& all, acceptor::place_function place);
  /// When its thread does not run: closes what is left.
  ~priority_loop();
  priority_loop(const priority_loop&) = delete;
  priority_loop& operator=(const priority_loop&) = delete;

  /// [before run] Binds and listens at once; returns where. Throws what socket_services::listen does.
  address listen(const listen_options& options);
  /// [before run] Starts the thread.
  void start();
  /// Stops and joins the thread; all connections have closed then.
  void finish() noexcept { thread_.reset(); }
  /// [any thread] Lets in those who wait already, and listens no more, a little later; until then `unfinished` counts
  /// the priority loop as it counts a connection. Throws std::bad_alloc.
  void close(drainage& unfinished);

  /// [any thread]
  [[nodiscard]] event_loop& loop() noexcept { return loop_; }
  [[nodiscard]] bool owns(const event_loop& loop) const noexcept { return &loop == &loop_; }
  /// [any thread] Counts the priority loop's connections.
  [[nodiscard]] connection_limiter& admitted() noexcept { return admitted_; }
  /// [loop] Returns make(), which allocates a connection: if need be with the memory that is held back.
  template <std::invocable Make>
  auto with_memory(Make make) {
    return reserve_.with_memory(std::move(make));
  }
  /// [loop] One of its connections is gone.
  void left() noexcept { reserve_.refill(); }

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
  connection_limiter admitted_;
  mutable event_loop loop_;  // counters() is its own, non-const accessor
  resource_reserve reserve_;
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
