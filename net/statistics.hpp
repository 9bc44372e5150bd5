// SPDX-License-Identifier: BSL-1.0
// statistics: what a server or a client has counted.
#pragma once

#include "client/client_statistics.hpp"  // IWYU pragma: export
#include "server/server_statistics.hpp"  // IWYU pragma: export
