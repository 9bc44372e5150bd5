// SPDX-License-Identifier: BSL-1.0
// simulation: several loops, a clock and a network in one thread; one seed, one run.
#pragma once

#include "testing/simulation.hpp"  // IWYU pragma: export
