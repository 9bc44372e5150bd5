// SPDX-License-Identifier: BSL-1.0
// dialer: connects a link by the fastest route that works, and again when it is lost or a faster one may be there.
#pragma once

#include "../../net/client/backoff.hpp"
#include "../../net/client/connector.hpp"
#include "../../net/names/destination.hpp"
#include "../messages/node_context.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace quintet::bus {

/// One way to a peer.
struct candidate {
  bus_route route;
  destination to;  ///< unused for mem
};
/// Returns the candidates of the addresses, the fastest first. Throws config_error.
[[nodiscard]] std::vector<candidate> candidates_of(const std::vector<std::string>& addresses, bool shared_memory);

/// Makes the connections of a dialer, one pending connection at a time.
class dialer_user {
 public:
  /// Returns whether a connection of this route would be better than the present one.
  [[nodiscard]] virtual bool wants(bus_route route) const noexcept = 0;
  /// Begins a connection to a node of this process. Returns false if there is none.
  [[nodiscard]] virtual bool connect_in_process() = 0;
  /// Takes a connected stream. Throws std::bad_alloc; the caller then still owns it.
  virtual void attach(stream_handle&& stream, bus_route route) = 0;
  /// Ends the pending connection, if any.
  virtual void abandon_pending() noexcept = 0;

 protected:
  ~dialer_user() = default;
};

/// All functions: [loop].
class dialer {
 public:
  dialer(node_context& node, dialer_user& user);

  /// From now on this node connects the link. Without that, it waits for the peer to connect.
  void use(std::vector<candidate> all);
  [[nodiscard]] bool is_on() const noexcept { return !all_.empty(); }
  /// Tries this route first. Begins an attempt, in place of one in progress.
  void prefer(std::optional<bus_route> route) noexcept;
  void stop() noexcept;

  /// The pending connection has ended or was given up.
  void pending_lost() noexcept;
  /// The link has a current connection, of this route.
  void established(bus_route route) noexcept;
  /// The link has lost its current connection.
  void current_lost() noexcept;

 private:
  void begin() noexcept;
  void try_next() noexcept;
  [[nodiscard]] bool try_one(const candidate& c);
  void connected(bus_route route, error_code failed, stream_handle stream) noexcept;
  void wait_for_answer() noexcept;
  void expired() noexcept;
  void schedule_retry() noexcept;
  [[nodiscard]] bool is_best(bus_route route) const noexcept;

  node_context& node_;
  dialer_user& user_;
  std::vector<candidate> all_;
  std::size_t next_ = 0;  // in all_
  std::optional<connector> connector_;
  bool waits_for_answer_ = false;
  backoff backoff_;
  callback timer_;  // of the answer, or of the next attempt
  time_point established_at_{};
  std::optional<bus_route> preferred_;
  std::optional<bus_route> current_route_;  // of the link's connection
};

}  // namespace quintet::bus
