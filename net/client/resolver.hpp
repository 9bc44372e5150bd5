// SPDX-License-Identifier: BSL-1.0
// resolver: looks up the addresses of a host name without blocking a loop.
#pragma once

#include "../../base/error.hpp"
#include "../names/address.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace quintet {

class event_loop;

/// Runs getaddrinfo on a thread of Asio's resolver. Nothing can interrupt a call in progress: destroying the loop waits
/// for it.
class resolver {
 public:
  using done_function = std::function<void(error_code failed, std::vector<address> found)>;

  /// [loop] Starts the lookup. `done` is called once on the loop, later, unless the resolver is destroyed before.
  /// Throws if the system refuses a thread or a descriptor.
  resolver(event_loop& loop, const std::string& host, const std::string& port, done_function done);
  ~resolver();
  resolver(const resolver&) = delete;
  resolver& operator=(const resolver&) = delete;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace quintet
