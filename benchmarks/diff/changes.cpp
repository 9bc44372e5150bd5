// SPDX-License-Identifier: BSL-1.0
// changes.cpp: pairs the combinations of two files and classifies their changes.
#include "diff/changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "report/summary.hpp"

namespace quintet::bench {
namespace {

constexpr double enough_confidence = 0.8;  // two rounds against three reach it

constexpr std::array more_is_better{&run_result::requests_per_s, &run_result::mb_per_s};
// Settings, and figures about a run's reliability, which are no results.
constexpr std::array not_compared{
    &run_result::connections, &run_result::message_bytes,       &run_result::pipeline,
    &run_result::handler_us,  &run_result::duration_s,          &run_result::requests,
    &run_result::failed,      &run_result::client_cpu_fraction, &run_result::foreign_cpu_fraction,
    &run_result::loops};

bool is_among(auto& list, measurement run_result::* field) {
  return std::find(list.begin(), list.end(), field) != list.end();
}

// A value that one file lacks counts as equal: the file may be older than the key.
bool same(const combination& a, const combination& b) {
  auto x = a.first, y = b.first;
  for (auto member : {&run_result::accept, &run_result::offload}) {
    if (!(x.*member) || !(y.*member)) x.*member = y.*member = std::nullopt;
  }
  if (!x.loops || !y.loops) x.loops = y.loops = std::nullopt;
  return same_combination(x, y);
}

std::vector<double> figures(const comparison& c, const combination& of, measurement run_result::* field) {
  std::vector<double> out;
  for (const run_result& r : c.results) {
    if (!r.error && r.*field && same_combination(r, of.first)) out.push_back(*(r.*field));
  }
  return out;
}

std::vector<ranking_metric> metrics_of(const combination& c, const diff_rules& rules) {
  if (!rules.metrics.empty()) return rules.metrics;
  // If nothing was timed, instructions were counted.
  return {ranking_metric_of(c.first.workload),
          cpu_per_request,
          {"instructions_per_request", &run_result::instructions_per_request, false}};
}

// Returns how much a figure usually differs between rounds: the median over the combinations of both files.
double usual_movement(const std::vector<change>& all, const ranking_metric& by) {
  std::vector<double> spreads;
  for (const change& c : all) {
    if (c.by.field == by.field) spreads.insert(spreads.end(), {c.before.spread(), c.after.spread()});
  }
  return summarise_samples(spreads).value_or(sample_summary{}).median;
}

std::string failure(const combination& c, std::string_view where) {
  return fmt::format("failed in the {}: {}", where, c.error.value_or("no figures"));
}

}  // namespace

std::string_view to_string(tendency t) {
  switch (t) {
    case tendency::no_difference:
      return "no difference";
    case tendency::faster:
      return "faster";
    case tendency::slower:
      return "slower";
    default:
      return "too noisy";
  }
}

double change::loss() const { return by.more_is_better ? 1 - ratio.ratio : ratio.ratio - 1; }

tendency classify_change(const ratio_interval& r, bool more_is_better_here, double usual, double tolerance) {
  if (r.confidence < enough_confidence) return tendency::too_noisy;
  if (!r.contains(1) && std::abs(r.ratio - 1) > usual)
    return (r.ratio > 1) == more_is_better_here ? tendency::faster : tendency::slower;
  const bool alike = r.low >= 1 / (1 + tolerance) && r.high <= 1 + tolerance;
  return alike ? tendency::no_difference : tendency::too_noisy;
}

differences find_differences(const comparison& before, const comparison& after, const diff_rules& rules) {
  const auto first = summarise(before.results), second = summarise(after.results);
  differences out;
  for (const combination& a : first) {
    const auto b = std::find_if(second.begin(), second.end(), [&](const combination& c) { return same(a, c); });
    if (b == second.end()) {
      out.others.push_back({a.first, "only in the first"});
      continue;
    }
    if (a.rounds == 0 || b->rounds == 0) {
      out.others.push_back({a.first, a.rounds == 0 ? failure(a, "first") : failure(*b, "second"), a.rounds > 0});
      continue;
    }
    for (const ranking_metric& by : metrics_of(a, rules)) {
      const auto x = figures(before, a, by.field), y = figures(after, *b, by.field);
      if (const auto ratio = ratio_of(y, x))
        out.changes.push_back({a.first, by, *summarise_samples(x), *summarise_samples(y), *ratio});
    }
  }
  for (const combination& b : second) {
    if (std::none_of(first.begin(), first.end(), [&](const combination& a) { return same(a, b); }))
      out.others.push_back({b.first, "only in the second"});
  }
  for (change& c : out.changes)
    c.verdict = classify_change(c.ratio, c.by.more_is_better, usual_movement(out.changes, c.by), rules.tolerance);
  return out;
}

ranking_metric find_metric(std::string_view key) {
  std::string known;
  for (const metric& m : metrics) {
    if (is_among(not_compared, m.field)) continue;
    if (m.key == key) return {m.key, m.field, is_among(more_is_better, m.field)};
    known += (known.empty() ? "" : ", ") + std::string(m.key);
  }
  throw std::invalid_argument(fmt::format("\"{}\" is not a figure; it must be one of: {}", key, known));
}

}  // namespace quintet::bench
