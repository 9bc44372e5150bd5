// SPDX-License-Identifier: BSL-1.0
// connection_pool_options: how many sockets a connection_pool has, and for how long.
#pragma once

#include "connect_options.hpp"

#include <chrono>
#include <cstddef>

namespace quintet {

/// The options of a connection_pool.
struct connection_pool_options {
  std::size_t max = 16;                              ///< sockets, lent and idle, of this loop; at least 1
  duration idle_timeout = std::chrono::seconds(30);  ///< after which an idle one is closed; zero: never
  connect_options connecting = {};                   ///< time limits of an attempt
};

/// [any thread] Throws config_error.
void validate(const connection_pool_options& options);

}  // namespace quintet
