// SPDX-License-Identifier: BSL-1.0
// summary.cpp: medians and spreads of the rounds of each combination.
#include "report/summary.hpp"

#include <algorithm>
#include <tuple>

#include "bottleneck.hpp"

namespace quintet::bench {
namespace json = boost::json;

namespace {

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

combination bring_together(const std::vector<const run_result*>& runs) {
  combination out;
  out.first = *runs.front();
  std::array<std::vector<double>, metrics.size()> samples;
  for (const auto* run : runs) {
    if (run->error) {
      ++out.failures;
      if (!out.error) out.error = run->error;
      continue;
    }
    ++out.rounds;
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      if (const auto& value = run->*metrics[i].field) samples[i].push_back(*value);
    }
  }
  for (std::size_t i = 0; i < metrics.size(); ++i) out.values[i] = summarise_samples(samples[i]);
  return out;
}

}  // namespace

const std::optional<sample_summary>& combination::operator[](measurement run_result::* field) const {
  const auto found = std::find_if(metrics.begin(), metrics.end(), [&](const metric& m) { return m.field == field; });
  return values[static_cast<std::size_t>(found - metrics.begin())];
}

bool combination::client_bound() const {
  const auto& busy = (*this)[&run_result::client_cpu_fraction];
  return busy && busy->median > at_its_limit;
}

std::optional<std::string_view> combination::bottleneck() const {
  const auto part = [this](measurement run_result::* field) -> std::optional<double> {
    const auto& found = (*this)[field];
    return found ? std::optional(found->median) : std::nullopt;
  };
  return bottleneck_of({.client = part(&run_result::client_cpu_fraction),
                        .server = part(&run_result::server_busy_fraction),
                        .machine = part(&run_result::machine_busy_fraction),
                        .network = std::nullopt,
                        .disk = std::nullopt});
}

bool same_combination(const run_result& a, const run_result& b) {
  const auto shape = [](const run_result& r) {
    return std::tie(r.workload, r.connections, r.message_bytes, r.pipeline, r.loops, r.accept, r.offload);
  };
  return shape(a) == shape(b) && label_of(a) == label_of(b);
}

std::vector<combination> summarise(std::span<const run_result> results) {
  std::vector<std::vector<const run_result*>> groups;
  for (const auto& result : results) {
    const auto same = [&](const auto& group) { return same_combination(*group.front(), result); };
    const auto found = std::find_if(groups.begin(), groups.end(), same);
    if (found == groups.end()) {
      groups.push_back({&result});
    } else {
      found->push_back(&result);
    }
  }
  std::vector<combination> out;
  for (const auto& group : groups) out.push_back(bring_together(group));
  return out;
}

std::vector<std::string> workload_names(std::span<const combination> all) {
  std::vector<std::string> names;
  for (const auto& c : all) add_once(names, c.first.workload);
  return names;
}

std::vector<std::string> workload_names(std::span<const run_result> all) {
  std::vector<std::string> names;
  for (const auto& r : all) add_once(names, r.workload);
  return names;
}

json::object to_json(const combination& c) {
  run_result medians = c.first;
  medians.error = c.error;
  json::object spread, range;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const auto& value = c.values[i];
    medians.*metrics[i].field = value ? measurement(value->median) : std::nullopt;
    spread[metrics[i].key] = value ? number(value->spread()) : json::value(nullptr);
    range[metrics[i].key] = value ? json::value(json::array{number(value->min), number(value->max)}) : nullptr;
  }
  auto out = to_json(medians);
  out.erase("round");
  out["rounds"] = c.rounds;
  out["failed_rounds"] = c.failures;
  const auto bottleneck = c.bottleneck();
  out["bottleneck"] = bottleneck ? json::value(*bottleneck) : json::value(nullptr);
  out["spread"] = std::move(spread);
  out["range"] = std::move(range);
  return out;
}

json::array to_json(std::span<const combination> all) {
  json::array out;
  for (const auto& c : all) out.push_back(to_json(c));
  return out;
}

}  // namespace quintet::bench
