// SPDX-License-Identifier: BSL-1.0
// rows.hpp: the figures of a sweep as lines of text, each with a bar.
#pragma once

#include <span>
#include <string>

#include "report/summary.hpp"
#include "sweep/axis.hpp"

namespace quintet::bench {

// Returns a block for each server, with a line for each value. All bars have one scale.
std::string curve_blocks(const axis&, std::span<const combination>);

// Returns "########", with a length proportional to value / most. A value above 0 has at least one character.
std::string bar(double value, double most);

}  // namespace quintet::bench
