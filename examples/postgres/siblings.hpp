// SPDX-License-Identifier: BSL-1.0
// siblings: processes that share the port tell each other of requests to cancel.
#pragma once

#include <quintet/bus/bus_node.hpp>
#include <quintet/net/connection.hpp>

#include <cstdint>
#include <map>
#include <string>

namespace postgres {

/// A CancelRequest comes on a connection of its own, which the kernel may give to any of the processes. The one that
/// does not know its key passes it on to the others.
class siblings {
 public:
  /// `all`: the bus addresses of all processes by their numbers; `self` is this one's. Throws quintet::config_error,
  /// and boost::system::system_error (an address in use). `ours` must outlive this object.
  siblings(std::uint64_t self, const std::map<std::uint64_t, std::string>& all, quintet::connection_registry& ours);
  /// [any thread] Cancels the request with this key in whichever other process has it. A key that none knows does
  /// nothing.
  void cancel(quintet::cancel_key key);

 private:
  const std::map<std::uint64_t, std::string> all_;
  quintet::bus_node node_;
};

}  // namespace postgres
