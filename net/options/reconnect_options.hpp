// SPDX-License-Identifier: BSL-1.0
// reconnect_options: when a client connects again, and with which waits.
#pragma once

#include "../../base/clock.hpp"

#include <chrono>

namespace quintet {

/// When a client connects again. Each wait is random, up to a bound that doubles from `base` to `cap`.
struct reconnect_options {
  duration base = std::chrono::milliseconds(100);  ///< the longest first wait; each next one may be twice as long
  duration cap = std::chrono::seconds(30);         ///< the longest of all
  duration lasted = std::chrono::seconds(10);  ///< a connection that has lived so long begins anew, with the first wait
  bool keep_handler = false;                   ///< the next connection gets the handler of the last
};
/// Throws config_error.
void validate(const reconnect_options& options);

}  // namespace quintet
