// SPDX-License-Identifier: BSL-1.0
// ratios.hpp: two servers beside each other, round by round: a disturbance that lasts for a round hits both.
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

// Of one workload: the figure of the first / the figure of the second, in each round that has both.
std::optional<sample_summary> paired_ratio(std::span<const run_result>, std::string_view workload,
                                           measurement run_result::* figure, const result_filter& first,
                                           const result_filter& second);

// What a server is judged by beside another one: CPU time of a request, or instructions where these were counted.
struct request_cost {
  measurement run_result::* field;
  std::string_view key, word;  // "server_cpu_us_per_request", "CPU"
  bool counted;                // so that it repeats
};
request_cost cost_of(const combination&);

// What `about` says of the two, and "metric", "median", "min", "max".
boost::json::object ratio_json(boost::json::object about, std::string_view metric, const sample_summary&);

// "1.02 times the CPU of libuv (rounds from 0.98 to 1.05, within the noise the same)"
std::string ratio_text(const sample_summary&, std::string_view what, std::string_view of_whom);

}  // namespace quintet::bench
