// SPDX-License-Identifier: BSL-1.0
// changes.hpp: how each combination changed between two files of results, or that the noise is too large to tell.
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

// Rules for classifying a change.
struct diff_rules {
  std::vector<ranking_metric> metrics;  // empty: the ranking_metric of each workload, and CPU per request
  double tolerance = 0.1;  // smaller changes count as no difference, larger ones that cannot be excluded as noise
};

struct change {
  run_result what;  // a run of the combination: names and shape
  ranking_metric by;
  sample_summary before, after;
  ratio_interval ratio;  // after / before
  tendency verdict = tendency::too_noisy;

  // Returns the loss as a fraction of the earlier figure; below 0 for an improvement.
  double loss() const;
};

// A combination that cannot be compared.
struct unpaired {
  run_result what;
  std::string why;      // "only in the first", "failed in the second: ..."
  bool broken = false;  // it gave figures before and fails now
};

struct differences {
  std::vector<change> changes;  // in the order of the first file
  std::vector<unpaired> others;
};

differences find_differences(const comparison& before, const comparison& after, const diff_rules&);

// Classifies a change. Faster or slower: the interval has enough confidence and excludes 1, and the change exceeds the
// usual movement between rounds. The latter is needed because among many combinations some intervals miss by chance. No
// difference: the whole interval is within the tolerance. Otherwise too noisy.
tendency classify_change(const ratio_interval&, bool more_is_better, double usual_movement, double tolerance);

// Finds a ranking_metric such as "p99_us". Throws std::invalid_argument, which lists the valid keys.
ranking_metric find_metric(std::string_view key);

}  // namespace quintet::bench
