// SPDX-License-Identifier: BSL-1.0
// dialer: connects a link by the fastest route that works, and again when it is lost or a faster one may be there.
#pragma once

#include "../../base/work/timer_queue.hpp"
#include "../../net/client/backoff.hpp"
#include "../../net/client/connector.hpp"
#include "../../net/names/destination.hpp"
#include "bus_options.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace quintet::bus {

class link;
class node;

/// One way to a peer.
struct candidate {
  bus_route route;
  destination to;  ///< unused for mem
};
/// Returns the candidates of the addresses, the fastest first. Throws config_error.
[[nodiscard]] std::vector<candidate> candidates_of(const std::vector<std::string>& addresses, bool shared_memory);

/// All functions: [loop].
class dialer {
 public:
  dialer(node& owner, link& of);

  /// From now on this node connects the link. Without that, it waits for the peer to connect.
  void use(std::vector<candidate> all);
  [[nodiscard]] bool is_on() const noexcept { return !all_.empty(); }
  /// Tries this route first. Begins an attempt, in place of one in progress.
  void prefer(std::optional<bus_route> route) noexcept {
    preferred_ = route;
    restart();
  }
  /// Begins an attempt from the fastest route, in place of the present one.
  void restart() noexcept;
  void stop() noexcept;

  /// The pending connection has ended or was given up.
  void pending_lost() noexcept;
  /// The link has a current connection, of this route.
  void established(bus_route route) noexcept;
  /// The link has lost its current connection.
  void current_lost() noexcept;

 private:
  using callback = callback_timer<std::function<void()>>;

  void begin() noexcept;
  void try_next() noexcept;
  [[nodiscard]] bool try_one(const candidate& c);
  void connected(bus_route route, error_code failed, int handle) noexcept;
  void wait_for_answer() noexcept;
  void expired() noexcept;
  void schedule_retry() noexcept;
  [[nodiscard]] bool is_best(bus_route route) const noexcept;
  [[nodiscard]] bool is_busy() const noexcept { return connector_.has_value() || waits_for_answer_; }

  node& node_;
  link& link_;
  std::vector<candidate> all_;
  std::vector<std::size_t> order_;  // of all_
  std::size_t next_ = 0;            // in order_
  std::optional<connector> connector_;
  bool waits_for_answer_ = false;
  backoff backoff_;
  callback timer_;  // of the answer, or of the next attempt
  time_point established_at_{};
  std::optional<bus_route> preferred_;
  std::optional<bus_route> current_route_;  // of the link's connection
};

}  // namespace quintet::bus
