// SPDX-License-Identifier: BSL-1.0
// changes.hpp: what became of each combination between two files of results, or that the noise forbids to say.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/document.hpp"
#include "report/statistics.hpp"
#include "report/verdict.hpp"

namespace quintet::bench {

enum class tendency { no_difference, faster, slower, too_noisy };
std::string_view to_string(tendency);

// How a tendency is found.
struct diff_rules {
  std::vector<yardstick> metrics;  // empty: the yardstick of each workload, and CPU per request
  double tolerance = 0.1;          // smaller changes are no difference; larger ones that cannot be ruled out are noise
};

struct change {
  run_result what;  // a run of it: names and shape
  yardstick by;
  sample_summary before, after;
  ratio_interval ratio;  // after / before
  tendency verdict = tendency::too_noisy;

  // By which fraction of the earlier figure it is worse now; below 0 where it is better.
  double loss() const;
};

// A combination that cannot be compared.
struct unpaired {
  run_result what;
  std::string why;      // "only in the first", "failed in the second: ..."
  bool broken = false;  // it gave figures once and fails now
};

struct differences {
  std::vector<change> changes;  // in the order of the first file
  std::vector<unpaired> others;
};

differences find_differences(const comparison& before, const comparison& after, const diff_rules&);

// Faster or slower: the interval has enough confidence and excludes 1, and the change is larger than what such a figure
// usually moves between rounds, since among many combinations some intervals miss by chance. No difference: the whole
// interval is within the tolerance. All else is too noisy.
tendency judge_change(const ratio_interval&, bool more_is_better, double usual_movement, double tolerance);

// "p99_us": throws std::invalid_argument, which says what there is.
yardstick find_yardstick(std::string_view key);

}  // namespace quintet::bench
