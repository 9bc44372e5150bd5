// SPDX-License-Identifier: BSL-1.0
// simulated_model: the installed one, by the name that the tests use.
#pragma once

#include <quintet/net/simulation.hpp>

namespace quintet::testing {

using quintet::simulated_model;

}  // namespace quintet::testing
