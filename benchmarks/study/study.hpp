// SPDX-License-Identifier: BSL-1.0
// study.hpp: rounds of a server under load, then a run for each tool that would disturb them.
#pragma once

#include <string>
#include <vector>

#include "compare/compare.hpp"
#include "study/subject.hpp"

namespace quintet::bench {

struct study_outcome {
  comparison_outcome compared;
  std::vector<subject> subjects;          // in the order of the contenders
  std::vector<std::string> not_measured;  // a line each: what, why, how to get it
};

// What it cannot measure is told in the outcome; Ctrl-C ends it with what was measured until then.
study_outcome study(const compare_settings&);

}  // namespace quintet::bench
