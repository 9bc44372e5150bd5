// SPDX-License-Identifier: BSL-1.0
// demo: the same clients against the same handler under each of the five models, in one process.
#pragma once

#include <quintet/threadmodels/server.hpp>

namespace slow_query {

/// Prints how long eight clients wait for a query each, and how long a ping takes meanwhile.
void demonstrate(quintet::config config);

}  // namespace slow_query
