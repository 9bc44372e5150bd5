// SPDX-License-Identifier: BSL-1.0
// upstreams: connecting to one server of several, in turn, on the loop that asks; some connections are made in advance.
#pragma once

#include "proxy/service.hpp"

#include <quintet/net/connector.hpp>

#include <deque>
#include <functional>
#include <list>
#include <optional>

namespace example::proxy {

/// One for each loop (event_loop::use). A relay knows nothing of the protocol and cannot tell when a connection could
/// serve a second client, so what is kept is only what was never used.
class upstreams {
 public:
  /// A handle, which is the caller's; or why there is none, after all upstreams were tried.
  using done_function = std::function<void(quintet::error_code failed, int handle)>;

  explicit upstreams(quintet::event_loop& loop) noexcept : loop_(loop) {}
  ~upstreams();
  upstreams(const upstreams&) = delete;
  upstreams& operator=(const upstreams&) = delete;

  /// [loop]
  void connect(service& all, done_function done);

 private:
  static constexpr std::chrono::seconds keeps_for{20};  ///< most servers close a silent connection later
  struct attempt {
    std::size_t next = 0, left = 0;  // upstream, and how many are still to be tried
    done_function done;
    std::optional<quintet::connector> connecting;
  };
  struct unused {
    int handle;
    quintet::time_point since;
  };
  struct shelf {
    std::deque<unused> ready;  // the oldest first
    std::list<std::optional<quintet::connector>> connecting;
  };
  using attempt_list = std::list<attempt>;

  void begin(service& all);
  void try_next(attempt_list::iterator a);
  void end(attempt_list::iterator a, quintet::error_code failed, int handle);
  int take_ready(std::size_t upstream);
  void look_after_shelves();
  void fill(std::size_t upstream);
  [[nodiscard]] quintet::connect_options connect_options() const;

  quintet::event_loop& loop_;
  service* all_ = nullptr;
  attempt_list attempts_;
  std::deque<shelf> shelves_;  // by upstream
};

}  // namespace example::proxy
