// SPDX-License-Identifier: BSL-1.0
// connection_pool: sockets connected to one destination, lent to the coroutines of one loop, one at a time each.
#pragma once

#include "client/connection_pool.hpp"  // IWYU pragma: export
