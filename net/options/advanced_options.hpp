// SPDX-License-Identifier: BSL-1.0
// advanced_options: settings that most servers leave alone: the priority loop, heartbeats, rebalancing and others.
#pragma once

#include "../../base/clock.hpp"
#include "../../base/enum_names.hpp"
#include "../names/address.hpp"
#include "../names/connection_id.hpp"
#include "listen_options.hpp"
#include "loop_options.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace quintet {

/// Selects how the system schedules the priority loop's thread, so that a heartbeat is answered at once on a busy
/// machine. Threads and processes that a handler starts on that loop do not inherit it.
enum class priority_scheduling {
  automatic,    ///< real_time if permitted, else short_slice; ordinary while it uses more than a quarter of a CPU
  real_time,    ///< SCHED_RR, lowest priority: runs before all ordinary threads, however long a handler takes
  short_slice,  ///< ordinary, with slices of 0.1 ms (since Linux 6.12) and nice -10: the kernel wakes it sooner
  none,         ///< as any other thread
};

template <>
inline constexpr auto enum_names<priority_scheduling> =
    std::to_array<enum_name<priority_scheduling>>({{priority_scheduling::automatic, "automatic"},
                                                   {priority_scheduling::real_time, "real_time"},
                                                   {priority_scheduling::short_slice, "short_slice"},
                                                   {priority_scheduling::none, "none"}});

/// Options of the priority loop. A server has one if a listener has `priority`, if the handler has classify(), if
/// `peers` or `without_listener` is set, or if heartbeats are on. Without a priority loop the other options have no
/// effect.
struct priority_options {
  bool without_listener = false;  ///< there is a priority loop for connection::move_to_priority_loop() alone
  /// [any thread] Called for each connection that an ordinary listener accepts. Returns whether the connection belongs
  /// to the priority loop; if that loop is full, the connection stays ordinary. Not called where loops have tables of
  /// descriptors of their own.
  std::function<bool(const address&)> peers = {};
  /// If the system refuses it, the server logs that and runs without.
  priority_scheduling scheduling = priority_scheduling::none;
  /// Open connections of the priority loop; ordinary limits do not count them. At the limit the loop stops accepting
  /// until one has closed. 0: no limit.
  std::size_t max_connections = 1024;
  /// Descriptors that are held in reserve. When the process or the system has no more, each lets one connection of the
  /// priority loop in. At most 4096.
  std::size_t reserve_descriptors = 16;
  /// Bytes that are allocated and not touched. They are freed when memory is missing for a connection of the priority
  /// loop. At most 1 GiB.
  std::size_t reserve_memory = std::size_t{1} << 20U;
};

/// When a silent connection is pinged, and when it is closed. A connection's silence is measured in whole intervals:
/// pings and closes come up to one interval late, and never early.
struct heartbeat_options {
  /// How often the priority loop's thread scans all connections, ordinary ones and its own. Zero: never.
  duration interval = duration::zero();
  /// Silence after which a ping is sent, and after each further period of this length. Zero: never.
  duration ping_after = duration::zero();
  std::string ping = {};                    ///< the bytes of a ping; sent between two batches of the handler's output
  duration evict_after = duration::zero();  ///< silence after which errc::heartbeat_timeout ends it; zero: never

  /// Returns whether connections are scanned.
  [[nodiscard]] bool is_on() const noexcept { return interval > duration::zero(); }
};

/// Selects what the load of a loop is.
enum class rebalance_measure {
  connections,  ///< the number of its open connections
  cpu_time,     ///< CPU time of its thread since the last check; active connections move
};

template <>
inline constexpr auto enum_names<rebalance_measure> = std::to_array<enum_name<rebalance_measure>>(
    {{rebalance_measure::connections, "connections"}, {rebalance_measure::cpu_time, "cpu_time"}});

/// When connections move from busy loops to idle ones, by connection::move_to(). Handlers must keep ids of connections,
/// no references.
struct rebalance_options {
  /// If the busiest loop has more than `factor` times the load of the least busy one, connections move until all loops
  /// have the same. Zero: never; otherwise at least 1.05.
  double factor = 0;
  rebalance_measure by = rebalance_measure::connections;
  duration interval =
      std::chrono::milliseconds(250);  ///< time between two checks, and twice that after a move; at least 1 ms

  /// Returns whether connections may move.
  [[nodiscard]] bool is_on() const noexcept { return factor > 0; }
};

/// A thread that has run one function of the program for longer than the bound. The views are valid until the hook
/// returns. Unknown facts are empty: a thread that blocks the watchdog's signal, or that sleeps in the kernel where no
/// signal reaches it, has only a name.
struct stall {
  std::string_view thread = {};                 ///< its name: "qnt-loop-0"
  duration lasted = duration::zero();           ///< so far; a lower bound
  std::string_view call = {};                   ///< "input", "on_open", "coroutine", "a timer", ...; see callback
  std::string_view function = {};               ///< the type of the handler or function: "chat::session"
  connection_id connection = {};                ///< of the handler, if a connection's handler runs
  std::string_view peer = {};                   ///< of that connection, unless it has closed
  std::span<const std::string> backtrace = {};  ///< functions, or addresses in files; innermost first
};

/// [any thread] Returns one line, without the peer: "qnt-loop-0 has been stalled for 210 ms in input of chat::session,
/// connection 16.0.1, at nanosleep < chat::room::tell < ...".
[[nodiscard]] std::string to_string(const stall& s);

/// Called by the watchdog's thread during the stall. It may block; its exceptions are ignored.
using stall_hook = std::function<void(const stall&)>;

/// Returns the environment variable QUINTET_STALL_BOUND, in milliseconds. Without it, returns the default of the build:
/// zero, and 200 ms in the preset `dev`. Throws config_error if the variable is not a number.
[[nodiscard]] duration default_stall_bound();

/// A server with a bound has one more thread, which wakes up twice in each bound. Stalls are counted in
/// server_statistics::stalls; the log and `on_stall` get reports, where the server has them. See doc/stalls.md.
struct stall_options {
  duration bound = default_stall_bound();  ///< from 1 ms to 1 h; zero: no watchdog
  stall_hook on_stall = {};                ///< gets each stall; empty: the log alone has it
};

/// What most servers leave alone.
struct advanced_options {
  accept_strategy accept = accept_strategy::main_reactor;  ///< which threads accept
  bool accept_strictly = false;      ///< an unavailable `accept` is a config_error instead of being replaced
  priority_options priority = {};    ///< the priority loop, if the server has one
  heartbeat_options heartbeat = {};  ///< whether silent connections are pinged and closed
  rebalance_options rebalance = {};  ///< models 4 and 5: whether connections migrate to loops with less load
  stall_options stalls = {};         ///< reports of handlers that keep a thread busy; needs the system's clock
  loop_tuning loop = {};             ///< each loop's spinning and buffers
  /// SO_BUSY_POLL: how long a receive or a wait polls the network card's queue for a connection's packets; at most
  /// 100 ms. 0: the system's default. If the kernel refuses it (older ones require CAP_NET_ADMIN), the server logs that
  /// and runs without.
  std::chrono::microseconds busy_poll{0};
};

/// [any thread] Throw config_error. `max_output_total`: see memory_limits.
void validate(const priority_options& options);
void validate(const heartbeat_options& options);
void validate(const rebalance_options& options);
void validate(const stall_options& options);
void validate(const advanced_options& options, std::size_t max_output_total);

}  // namespace quintet
