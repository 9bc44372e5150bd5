// SPDX-License-Identifier: BSL-1.0
// bus_node: a process's place on a bus of many processes and machines.
#pragma once

#include "messages/bus_options.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace quintet {

class event_loop;

namespace bus {

class node;

}  // namespace bus

/// A node sends messages to other nodes by their ids, over the fastest route that works: the same process, shared
/// memory, a Unix socket, TCP. A link between two nodes outlives its connections: a message arrives once and in order
/// while both processes live, whatever happens to the connections. See doc/bus.md.
///
///     quintet::bus_node node({.id = 1, .listen = {"unix:/run/a.bus", "tcp:0.0.0.0:7100"}, .on_messages = ...});
///     node.connect(2, {"unix:/run/b.bus", "tcp:10.0.0.2:7100"});
///     node.run_in_background();
///     node.send(2, "hello");
class bus_node {
 public:
  /// Called once on the loop, with the fate of a message; see send().
  using completion = std::function<void(error_code)>;

  /// Listens at once. Throws config_error, and boost::system::system_error (an address in use).
  explicit bus_node(bus_options options);
  /// Not on the node's thread, nor during run(), nor while another thread uses the node.
  ~bus_node();
  bus_node(const bus_node&) = delete;
  bus_node& operator=(const bus_node&) = delete;

  /// Serves until stop(). Then completions of messages that are not acknowledged have been called with errc::stopped. A
  /// second call of run() or run_in_background() throws std::logic_error.
  void run();
  /// [any thread] Calls run() on a new thread, which the destructor stops and joins. Returns when the node serves.
  /// Exceptions of its start reach the caller.
  void run_in_background();
  /// [any thread]
  void stop() noexcept;

  /// [any thread] Makes a link and keeps it connected, by the fastest of these addresses that works: "unix:/run/b.bus",
  /// "unix:@b", "tcp:10.0.0.2:7100". A node of the same process is found by its id. Another call replaces the
  /// addresses. Throws config_error and std::bad_alloc.
  void connect(std::uint64_t peer, const std::vector<std::string>& addresses = {});
  /// [any thread] Ends a link; its messages fail with ECANCELED. The peer may connect again.
  void disconnect(std::uint64_t peer);
  /// [any thread] Moves a link that this node connects to a route as soon as it works, and keeps it there; no value:
  /// the fastest. While the route does not work, a link without a connection takes any other.
  void use_route(std::uint64_t peer, std::optional<bus_route> route);

  /// [any thread] Sends a message. The completion is called once on the loop, without an error once the destination has
  /// the message. An error that send() returns means: not sent, no completion. The errors: errc::message_too_big,
  /// errc::stopped, and by the caller:
  ///
  ///   on the loop     EHOSTUNREACH: no route. errc::output_full: the link's queue is full, or with a completion
  ///                   max_receipts is reached; on_room follows
  ///   other threads   errc::output_full: max_posted is reached; no on_room. Also on the loop for a message to the node
  ///                   itself. A missing route reaches the completion
  ///
  /// The order of each thread's messages is kept. Throws std::bad_alloc without effect. See doc/bus.md.
  error_code send(std::uint64_t to, bytes payload);
  error_code send(std::uint64_t to, bytes payload, completion done);

  /// [any thread] Returns the route of a link; none: it has no connection, or there is no link.
  [[nodiscard]] std::optional<bus_route> route_of(std::uint64_t peer) const;
  /// [any thread] Returns the route of each link that has a connection, by its peer. Throws std::bad_alloc.
  [[nodiscard]] std::map<std::uint64_t, bus_route> routes() const;
  /// [any thread] Returns the addresses at which the node listens, with the ports that were bound.
  [[nodiscard]] std::vector<std::string> addresses() const;
  [[nodiscard]] bus_statistics statistics() const noexcept;
  [[nodiscard]] std::uint64_t id() const noexcept;
  [[nodiscard]] event_loop& loop() noexcept;

  /// run() in parts, for a node whose loop is driven by hand: start(), loop().poll() until stop() was called and
  /// loop().finished(), finish().
  void start();
  void finish();

 private:
  void run_once();

  const std::unique_ptr<bus::node> node_;
  event_loop& loop_;
  std::thread background_;
  bool has_run_ = false;
};

}  // namespace quintet
