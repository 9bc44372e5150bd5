// SPDX-License-Identifier: BSL-1.0
// upstreams: connects a loop to one of several servers, round robin; some connections are made in advance.
#pragma once

#include "proxy/service.hpp"

#include <quintet/net/connector.hpp>

#include <deque>
#include <functional>
#include <list>
#include <optional>

namespace example::proxy {

/// One for each loop (event_loop::use). Pools only connections that were never used: a relay does not know the
/// protocol, so it cannot tell when a connection could serve a second client.
class upstreams {
 public:
  /// Receives a stream, or the error of the last upstream after all have failed.
  using done_function = std::function<void(quintet::error_code failed, quintet::stream_handle stream)>;

  explicit upstreams(quintet::event_loop& loop) noexcept : loop_(loop) {}
  ~upstreams();
  upstreams(const upstreams&) = delete;
  upstreams& operator=(const upstreams&) = delete;

  /// [loop] Connects to the next upstream, or takes a connection from its pool. Calls `done` once.
  void connect(service& all, done_function done);

 private:
  static constexpr std::chrono::seconds keeps_for{20};  ///< most servers keep a silent connection longer
  struct attempt {
    std::size_t next = 0, left = 0;  // index of the next upstream, and the number of untried ones
    done_function done;
    std::optional<quintet::connector> connecting;
  };
  struct unused {
    quintet::stream_handle stream;
    quintet::time_point since;
  };
  struct shelf {
    std::deque<unused> ready;  // oldest first
    std::list<std::optional<quintet::connector>> connecting;
  };
  using attempt_list = std::list<attempt>;

  void begin(service& all);
  void try_next(attempt_list::iterator a);
  void end(attempt_list::iterator a, quintet::error_code failed, quintet::stream_handle stream = {});
  /// Returns an empty one if there is none.
  quintet::stream_handle take_ready(std::size_t upstream);
  void tidy_shelves();
  void fill(std::size_t upstream);
  [[nodiscard]] quintet::connect_options connect_options() const;

  quintet::event_loop& loop_;
  service* all_ = nullptr;
  attempt_list attempts_;
  std::deque<shelf> shelves_;  // one per upstream
};

}  // namespace example::proxy
