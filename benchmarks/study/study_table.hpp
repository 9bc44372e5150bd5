// SPDX-License-Identifier: BSL-1.0
// study_table.hpp: a study as text for a terminal.
#pragma once

#include <span>
#include <string>

#include "study/study.hpp"

namespace quintet::bench {

// Returns the servers side by side, then caches in the layout of published figures, hottest functions, locks, and
// missing figures. `before` is an earlier study; servers of the same name are compared with it.
std::string study_table(const study_outcome&, std::span<const subject> before);

}  // namespace quintet::bench
