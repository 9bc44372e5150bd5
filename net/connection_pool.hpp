// SPDX-License-Identifier: BSL-1.0
// connection_pool: sockets connected to one destination, lent to the coroutines of one loop.
#pragma once

#include "client/connection_pool.hpp"  // IWYU pragma: export
