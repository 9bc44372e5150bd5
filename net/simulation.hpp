// SPDX-License-Identifier: BSL-1.0
// simulation: several loops, a clock and a network in one thread; the same seed gives the same run.
#pragma once

#include "testing/simulated_model.hpp"  // IWYU pragma: export
#include "testing/simulation.hpp"       // IWYU pragma: export
