// SPDX-License-Identifier: BSL-1.0
// study.hpp: rounds of a server under load, then a separate run for each tool that would disturb them.
#pragma once

#include <string>
#include <vector>

#include "compare/compare.hpp"
#include "study/subject.hpp"

namespace quintet::bench {

struct study_outcome {
  comparison_outcome compared;
  std::vector<subject> subjects;          // in the order of the contenders
  std::vector<std::string> not_measured;  // a line each: figure, reason, remedy
};

// Performs a study. The outcome lists what could not be measured. Ctrl-C ends it early with the results so far.
study_outcome study(const compare_settings&);

}  // namespace quintet::bench
