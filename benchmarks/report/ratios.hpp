// SPDX-License-Identifier: BSL-1.0
// ratios.hpp: ratios of two servers, round by round, because a disturbance of a whole round affects both.
#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "report/result.hpp"
#include "report/statistics.hpp"
#include "report/summary.hpp"

namespace quintet::bench {

using result_filter = std::function<bool(const run_result&)>;

// Returns the first server's figure / the second's for one workload, in each round that has both.
std::optional<sample_summary> paired_ratio(std::span<const run_result>, std::string_view workload,
                                           measurement run_result::* figure, const result_filter& first,
                                           const result_filter& second);

// The metric that compares two servers: CPU time per request, or instructions if these were counted.
struct cost_metric {
  measurement run_result::* field;
  std::string_view key, word;  // "server_cpu_us_per_request", "CPU"
  bool counted;                // counted figures repeat exactly
};
cost_metric cost_of(const combination&);

// Adds "metric", "median", "min" and "max" to `about`, which describes the two servers.
boost::json::object ratio_json(boost::json::object about, std::string_view metric, const sample_summary&);

// Returns "1.02 times the CPU of libuv (rounds from 0.98 to 1.05, within the noise the same)".
std::string ratio_text(const sample_summary&, std::string_view what, std::string_view of_whom);

}  // namespace quintet::bench
