// SPDX-License-Identifier: BSL-1.0
// statistics: what a loop counts as it works, and the sum over the loops of a server or a client.
#pragma once

#include "loop/statistics.hpp"  // IWYU pragma: export
