// SPDX-License-Identifier: BSL-1.0
// client_statistics: the counters of a client.
#pragma once

#include "../loop/loop_counters.hpp"

#include <cstdint>

namespace quintet {

/// The counters of a client and of its loops.
struct client_statistics : loop_statistics {
  std::uint64_t attempts = 0;  ///< attempts to connect
  std::uint64_t failures = 0;  ///< failed attempts
};

}  // namespace quintet
