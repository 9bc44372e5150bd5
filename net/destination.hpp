// SPDX-License-Identifier: BSL-1.0
// destination: where a client connects to: an address, a host name with a port, or several addresses of one service.
#pragma once

#include "names/destination.hpp"  // IWYU pragma: export
