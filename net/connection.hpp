// SPDX-License-Identifier: BSL-1.0
// connection: a byte stream on a loop, and the baton that decides which thread may touch its data.
#pragma once

#include "connection/connection.hpp"  // IWYU pragma: export
