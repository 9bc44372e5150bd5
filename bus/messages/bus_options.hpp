// SPDX-License-Identifier: BSL-1.0
// bus_options: what a node of the bus is told, what it delivers, and what it has counted.
#pragma once

#include "../../base/bytes.hpp"
#include "../../base/clock.hpp"
#include "../../base/enum_names.hpp"
#include "../../base/error.hpp"
#include "../../base/log.hpp"
#include "../../base/metrics/counter.hpp"
#include "../../net/options/connect_options.hpp"
#include "../../net/options/loop_options.hpp"
#include "../../net/options/reconnect_options.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace quintet {

class engine;

/// How messages reach a peer, the fastest first.
enum class bus_route : std::uint8_t {
  mem,          ///< a node of the same process: no kernel, no copy by the kernel
  shm,          ///< shared memory beside a Unix socket
  unix_socket,  ///< a Unix socket
  tcp,
};

template <>
inline constexpr auto enum_names<bus_route> = std::to_array<enum_name<bus_route>>(
    {{bus_route::mem, "mem"}, {bus_route::shm, "shm"}, {bus_route::unix_socket, "unix"}, {bus_route::tcp, "tcp"}});

/// A message as it is delivered. `payload` is valid until the callback returns.
struct bus_message {
  std::uint64_t source;  ///< the node that has sent it
  bytes payload;         ///< the message
};

/// Selects the fate of unacknowledged messages when the peer's process was replaced by another one with the same id.
enum class bus_restart_policy : std::uint8_t {
  send_again,  ///< to the successor: each message arrives at least once, in order
  fail,        ///< completions get ECONNRESET: each message arrives at most once
};

/// The options of a bus_node.
struct bus_options {
  std::uint64_t id = 0;  ///< of the node, unique on the bus; not 0
  /// Where the node listens: "unix:/run/a.bus", "unix:@a", "tcp:0.0.0.0:7100". Empty: other nodes cannot connect to it.
  std::vector<std::string> listen = {};
  /// Default next hop: receives messages for nodes without a link or learned route. connect() to it as well.
  std::optional<std::uint64_t> parent = {};

  // Callbacks, all on the node's loop. They must not block. An exception of on_messages closes the connection.
  std::function<void(std::span<const bus_message>)> on_messages = {};  ///< messages of one link, in order
  /// A link has another route; none: its connection was lost. Reconnecting goes on if this node called connect().
  std::function<void(std::uint64_t peer, std::optional<bus_route> route)> on_route = {};
  /// send() has returned errc::output_full on the loop. Now half of the queue is free, or its messages have failed. Not
  /// called when the node ends. For a forwarded message, `peer` is the next node on its way.
  std::function<void(std::uint64_t peer)> on_room = {};

  // Limits.
  std::size_t max_message = 64 * 1024;  ///< bytes of one message; nodes with another value do not connect
  /// Bytes of a link's queue of unacknowledged messages, headers included, freed in chunks of 64 KiB. It bounds what
  /// waits for a peer that is slow or away.
  std::size_t max_unacknowledged = 1024 * 1024;
  /// Bytes of messages of other threads, and of messages to the node itself, that no link's queue has taken yet. Each
  /// counts 64 bytes more.
  std::size_t max_posted = 4 * 1024 * 1024;
  std::size_t max_peers = 1024;          ///< links; further peers are refused
  std::size_t max_receipts = 64 * 1024;  ///< completions of forwarded messages that wait for a receipt
  unsigned max_checksum_errors = 1;      ///< wrong frames of one connection; then it is closed
  std::uint8_t max_hops = 8;             ///< nodes that forward a message, at most

  // Times.
  /// Of one route, handshake included. Peers that vanish from the network are found within 30 s.
  connect_options connecting = {
      .timeout = std::chrono::seconds(5),
      .socket = {.keep_alive = std::chrono::seconds(15), .user_timeout = std::chrono::seconds(15)}};
  reconnect_options reconnect = {};
  duration upgrade_interval = std::chrono::seconds(1);  ///< while a link is not on its fastest route: between attempts
  /// A link without a connection for so long fails its queued messages with ETIMEDOUT.
  duration unreachable_after = std::chrono::seconds(60);
  duration receipt_timeout = std::chrono::seconds(10);  ///< of a forwarded message's completion
  bus_restart_policy on_restart = bus_restart_policy::send_again;

  // The loop.
  bool shared_memory = true;           ///< offers shared memory beside Unix addresses, and asks for it
  std::size_t ring_size = 256 * 1024;  ///< of each direction of a connection over shared memory
  /// Connections over shared memory that share one file in memory, see shared_memory_options. So N nodes that are all
  /// linked have at most N files.
  unsigned connections_per_file = 64;
  engine_kind engine = engine_kind::automatic;  ///< of the loop
  loop_tuning loop = {};                        ///< spinning and buffers
  log_hook log = {};                            ///< receives the log lines of the node; empty: no log
  /// For a loop that a test drives by hand.
  std::function<std::unique_ptr<quintet::engine>()> make_engine = {};
  const clock* time = &clock::system();
};

/// [any thread] Throws config_error.
void validate(const bus_options& options);

/// The figures of a node. Each figure is declared here and listed in each().
template <class Value>
struct bus_figures {
  Value sent{};             ///< messages of this node that a link's queue has taken
  Value delivered{};        ///< messages given to on_messages
  Value forwarded{};        ///< messages of other nodes passed on
  Value resent{};           ///< messages queued again for another connection
  Value duplicates{};       ///< received again, and dropped
  Value checksum_errors{};  ///< frames whose checksum was wrong
  Value malformed{};        ///< connections closed because of a frame that has no meaning
  Value unroutable{};       ///< messages, own and others', without a way to their destination
  Value refused{};          ///< messages dropped because a queue was full: forwarded, or of another thread
  Value failed{};           ///< messages dropped by unreachable_after, bus_restart_policy::fail or disconnect()
  Value connections{};      ///< connections that have become a link's route
  Value reconnects{};       ///< those that replaced a lost one
  Value route_changes{};    ///< those of another route than before
  Value failed_attempts{};  ///< attempts to connect that found no working route
  Value peer_restarts{};    ///< successors of peers

  /// Calls f(name, figures.NAME...) for each figure.
  template <class F, class... Figures>
  static constexpr void each(F f, Figures&... of) {
    f("sent", of.sent...);
    f("delivered", of.delivered...);
    f("forwarded", of.forwarded...);
    f("resent", of.resent...);
    f("duplicates", of.duplicates...);
    f("checksum_errors", of.checksum_errors...);
    f("malformed", of.malformed...);
    f("unroutable", of.unroutable...);
    f("refused", of.refused...);
    f("failed", of.failed...);
    f("connections", of.connections...);
    f("reconnects", of.reconnects...);
    f("route_changes", of.route_changes...);
    f("failed_attempts", of.failed_attempts...);
    f("peer_restarts", of.peer_restarts...);
  }
};

struct bus_statistics : figure_sums<bus_figures> {};

}  // namespace quintet
