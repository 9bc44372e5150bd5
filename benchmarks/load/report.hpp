// SPDX-License-Identifier: BSL-1.0
// report.hpp: a load result as JSON and as text.
#pragma once

#include "load/run.hpp"
#include "load/settings.hpp"

#include <boost/json/object.hpp>

#include <cstdint>
#include <string>

namespace quintet::bench {

/// Returns a result's keys that a client can know; null where nothing was measured.
boost::json::object to_json(const load_settings& settings, const load_result& result);

/// Returns several lines, each with its line end.
std::string to_text(const load_settings& settings, const load_result& result);

/// Returns a line for each bound up to which there are more latencies than up to the bound before, in the format of
/// redis-benchmark: "81.97% <= 1.1 milliseconds". The percentages are rounded down. The last line is the rate.
std::string distribution_text(const histogram& latencies, double requests_per_s);

/// Describes a run before it starts: "echo: 100 connections x 8 B, depth 1, ...".
std::string describe(const load_settings& settings);

/// Returns "ok 999  failed 1  success 99.900 %". The percentage is rounded down: only without a failure it is 100 %.
std::string outcome_text(std::uint64_t ok, std::uint64_t failed);

/// Formats "1234567" as "1,234,567".
std::string with_commas(std::uint64_t value);

}  // namespace quintet::bench
