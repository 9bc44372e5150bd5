// SPDX-License-Identifier: BSL-1.0
// verdict.hpp: the best models of a workload and their lead, or that the noise is too large to tell.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/summary.hpp"

namespace quintet::bench {

// The metric that ranks a workload.
struct ranking_metric {
  std::string_view key;
  measurement run_result::* field;
  bool more_is_better;
};
ranking_metric ranking_metric_of(std::string_view workload);
extern const ranking_metric cpu_per_request;

// The models, ranked by one metric.
struct ranking {
  std::vector<const combination*> level;   // the best median first, then all whose range overlaps with its range
  std::vector<const combination*> behind;  // the others, best first
  bool single_round = false;               // the spread is unknown, so nothing counts as level
  bool clear_winner() const { return level.size() == 1 && !behind.empty() && !single_round; }
  bool too_noisy() const { return level.size() > 1 && behind.empty(); }
};
ranking rank(std::span<const combination>, std::string_view workload, const ranking_metric&);

struct verdict {
  std::string workload;
  std::string metric;                 // key of the metric
  std::optional<std::string> winner;  // the clear winner
  std::vector<std::string> level;     // the leaders that cannot be distinguished (only the winner if there is one)
  measurement ahead_by;               // how many times better than the next one behind
  bool too_noisy = false;
  std::string sentence;
  // Findings beside throughput: least CPU for a cheap request, and least wait of cheap requests behind expensive ones.
  // Empty if the handler's own work decides these.
  std::string also;
  std::string caution;               // empty, or why the throughput is not reliable
  std::vector<std::string> fastest;  // the model with the highest throughput, and those not distinguishable from it
  std::vector<std::string> frugal;   // the model with least CPU per request, and those not distinguishable from it
};

// Returns the share of the CPUs that other programs used during this workload, if it makes the throughput unreliable:
// the scheduler then gives a server CPU time by its number of threads. CPU per request stays valid.
measurement disturbance(std::span<const combination>, std::string_view workload);
verdict compute_verdict(std::span<const combination>, std::string_view workload);
boost::json::object to_json(const verdict&);

// Describes how much the throughput of equal rounds differed.
std::string noise_sentence(std::span<const combination>);

}  // namespace quintet::bench
