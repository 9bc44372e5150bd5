// SPDX-License-Identifier: BSL-1.0
// advice.hpp: recommends a model for cheap, computing and blocking handlers, and shows the library's cost.
#pragma once

#include <boost/json/array.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/summary.hpp"

namespace quintet::bench {

struct advice {
  std::string handler;                  // "cheap", "computing", "blocking"
  std::optional<std::string> workload;  // the measured workload behind the advice; empty: none was measured
  std::optional<std::string> model;     // the recommended model; empty if the noise is too large
  std::vector<std::string> as_good;     // others that cannot be distinguished from it
  std::string reason;
};
std::vector<advice> advise(std::span<const combination>);

// CPU per request of a model / of its hand-written counterpart, round by round.
struct peer_ratio {
  std::string workload, model, peer;
  sample_summary ratio;
  std::string sentence() const;
};
std::vector<peer_ratio> peer_ratios(std::span<const run_result>);

boost::json::array to_json(std::span<const advice>);
boost::json::array to_json(std::span<const peer_ratio>);

}  // namespace quintet::bench
