// SPDX-License-Identifier: BSL-1.0
// demo: runs the same clients and the same handler under each of the five models, in one process.
#pragma once

#include <quintet/threadmodels/server.hpp>

namespace slow_query {

/// Prints the time until eight concurrent queries are answered, and the longest ping meanwhile.
void demonstrate(quintet::config config);

}  // namespace slow_query
