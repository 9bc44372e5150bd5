// SPDX-License-Identifier: BSL-1.0
// ratios.cpp: ratios of two servers, round by round.
#include "report/ratios.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace quintet::bench {

std::optional<sample_summary> paired_ratio(std::span<const run_result> results, std::string_view workload,
                                           measurement run_result::* figure, const result_filter& first,
                                           const result_filter& second) {
  std::vector<double> ratios;
  for (const auto& below : results) {
    if (below.workload != workload || below.error || !second(below) || (below.*figure).value_or(0) <= 0) continue;
    const auto above = std::find_if(results.begin(), results.end(), [&](const run_result& r) {
      return r.workload == workload && r.round == below.round && !r.error && first(r);
    });
    if (above != results.end() && (*above).*figure) ratios.push_back(*((*above).*figure) / *(below.*figure));
  }
  return summarise_samples(ratios);
}

cost_metric cost_of(const combination& c) {
  if (c[&run_result::instructions_per_request])
    return {&run_result::instructions_per_request, "instructions_per_request", "instructions", true};
  return {&run_result::server_cpu_us_per_request, "server_cpu_us_per_request", "CPU", false};
}

boost::json::object ratio_json(boost::json::object about, std::string_view metric, const sample_summary& ratio) {
  about["metric"] = metric;
  about["median"] = number(ratio.median);
  about["min"] = number(ratio.min);
  about["max"] = number(ratio.max);
  return about;
}

std::string ratio_text(const sample_summary& ratio, std::string_view what, std::string_view of_whom) {
  auto text = fmt::format("{:.2f} times the {} of {}", ratio.median, what, of_whom);
  if (ratio.samples < 2) return text;
  const auto* qualifier = ratio.min <= 1 && ratio.max >= 1 ? ", within the noise the same" : "";
  return fmt::format("{} (rounds from {:.2f} to {:.2f}{})", text, ratio.min, ratio.max, qualifier);
}

}  // namespace quintet::bench
