// SPDX-License-Identifier: BSL-1.0
// rows.hpp: the figures of a sweep as lines of text, each with a bar.
#pragma once

#include <span>
#include <string>

#include "report/summary.hpp"
#include "sweep/axis.hpp"

namespace quintet::bench {

// A block for each server, a line for each value; all bars have one scale.
std::string curve_blocks(const axis&, std::span<const combination>);

// "########": as much of the width as the value is of the most; something where there is anything.
std::string bar(double value, double most);

}  // namespace quintet::bench
