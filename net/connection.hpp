// SPDX-License-Identifier: BSL-1.0
// connection: a byte stream on a loop, the baton that decides which thread may touch its data, and facts of its socket.
#pragma once

#include "connection/connection.hpp"  // IWYU pragma: export
#include "connection/peer_info.hpp"   // IWYU pragma: export
