// SPDX-License-Identifier: BSL-1.0
// table.hpp: the comparison as text for a terminal.
#pragma once

#include <string>

#include "report/document.hpp"

namespace quintet::bench {

// A block for each workload: a line per model and peer, then the verdict; last the advice.
std::string console_table(const comparison&);

}  // namespace quintet::bench
