// SPDX-License-Identifier: BSL-1.0
// study_table.hpp: a study as text for a terminal.
#pragma once

#include <span>
#include <string>

#include "study/study.hpp"

namespace quintet::bench {

// The servers beside each other; then caches in the layout of published figures, hottest functions, locks, and what
// could not be measured. `before`: of an earlier study, beside which each server of the same name is put.
std::string study_table(const study_outcome&, std::span<const subject> before);

}  // namespace quintet::bench
