// SPDX-License-Identifier: BSL-1.0
// summary.hpp: summarizes the rounds of each combination (workload and its shape, model or peer).
#pragma once

#include <array>
#include <boost/json/array.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/result.hpp"
#include "report/statistics.hpp"

namespace quintet::bench {

struct combination {
  run_result first;                  // the first run; its names and placement represent all
  std::size_t rounds = 0;            // runs that gave figures
  std::size_t failures = 0;          // runs that did not
  std::optional<std::string> error;  // of the first run that failed
  std::array<std::optional<sample_summary>, metrics.size()> values;

  const std::optional<sample_summary>& operator[](measurement run_result::* field) const;
  bool is_model(std::string_view name) const { return first.model && *first.model == name; }
  bool is_peer() const { return first.peer.has_value(); }
  bool client_bound() const;                           // the client was the bottleneck
  std::optional<std::string_view> bottleneck() const;  // as bottleneck_of()
  std::string label() const { return label_of(first); }
};

// Returns true if workload, shape and server are equal. The engine counts only as far as label_of() shows it: a run
// that failed early does not know its engine.
bool same_combination(const run_result&, const run_result&);

// Returns one object per combination, in the order of first appearance.
std::vector<combination> summarise(std::span<const run_result>);

// Return the names of the workloads, in the order of first appearance.
std::vector<std::string> workload_names(std::span<const combination>);
std::vector<std::string> workload_names(std::span<const run_result>);

// Has medians under the keys of a result. "spread" has (max-min)/median and "range" [min, max] under the same keys.
boost::json::object to_json(const combination&);
boost::json::array to_json(std::span<const combination>);

}  // namespace quintet::bench
