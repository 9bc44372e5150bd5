// SPDX-License-Identifier: BSL-1.0
// connection_limits: how much one connection may hold, and how long it may take.
#pragma once

#include "options/connection_limits.hpp"  // IWYU pragma: export
