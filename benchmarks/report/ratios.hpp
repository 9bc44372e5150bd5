// SPDX-License-Identifier: BSL-1.0
// ratios.hpp: two servers beside each other, round by round: a disturbance that lasts for a round hits both.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "report/result.hpp"
#include "report/statistics.hpp"

namespace quintet::bench {

using result_filter = std::function<bool(const run_result&)>;

// Of one workload: the figure of the first / the figure of the second, in each round that has both.
std::optional<sample_summary> paired_ratio(std::span<const run_result>, std::string_view workload,
                                           measurement run_result::* figure, const result_filter& first,
                                           const result_filter& second);

// "1.02 times the CPU of libuv (rounds from 0.98 to 1.05, within the noise the same)"
std::string ratio_text(const sample_summary&, std::string_view what, std::string_view of_whom);

}  // namespace quintet::bench
