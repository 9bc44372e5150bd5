// SPDX-License-Identifier: BSL-1.0
// advice.hpp: which model to take for a cheap, a computing and a blocking handler, and what the library costs.
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
  std::optional<std::string> workload;  // the measured workload it rests on; empty: none was measured
  std::optional<std::string> model;     // the one to take; empty when the noise forbids to say
  std::vector<std::string> as_good;     // others that cannot be told apart from it
  std::string reason;
};
std::vector<advice> advise(std::span<const combination>);

// One of ours against its hand-written counterpart: CPU per request, ours / theirs, round by round.
struct peer_ratio {
  std::string workload, model, peer;
  sample_summary ratio;
  std::string sentence() const;
};
std::vector<peer_ratio> peer_ratios(std::span<const run_result>);

boost::json::array to_json(std::span<const advice>);
boost::json::array to_json(std::span<const peer_ratio>);

}  // namespace quintet::bench
