// SPDX-License-Identifier: BSL-1.0
// resolver: the addresses of a host name, asked for on a loop without blocking it.
#pragma once

#include "../../base/error.hpp"
#include "../names/address.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace quintet {

class event_loop;

/// Asio's resolver on the loop's guest: the system's getaddrinfo, in a thread of its own. Whoever destroys the loop
/// waits for a call that is under way, which nothing can interrupt.
class resolver {
 public:
  using done_function = std::function<void(error_code failed, std::vector<address> found)>;

  /// [loop] The function is called on the loop, later, unless this has been destroyed before.
  resolver(event_loop& loop, const std::string& host, const std::string& port, done_function done);
  ~resolver();
  resolver(const resolver&) = delete;
  resolver& operator=(const resolver&) = delete;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace quintet
