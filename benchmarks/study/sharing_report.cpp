// SPDX-License-Identifier: BSL-1.0
// sharing_report.cpp: the results of the two layouts as a table, a sentence and JSON.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>

#include "report/result.hpp"
#include "report/statistics.hpp"
#include "report/text.hpp"
#include "study/sharing.hpp"

namespace quintet::bench {
namespace json = boost::json;

namespace {

// If a line moves between cores, most increments or every few wait for it: far more than a process start costs.
constexpr double least_difference = 0.01, least_times = 5;

using field = std::optional<double> sharing_reading::*;

bool is_higher(const sharing_reading& adjacent, const sharing_reading& padded, field f) {
  return *(adjacent.*f) - *(padded.*f) >= least_difference && *(adjacent.*f) >= least_times * *(padded.*f);
}

std::optional<sample_summary> summary_of(const std::vector<sharing_reading>& rounds, field f) {
  std::vector<double> values;
  for (const auto& r : rounds) {
    if (r.*f) values.push_back(*(r.*f));
  }
  return summarise_samples(values);
}

std::optional<sample_summary> times_of(const std::vector<sharing_reading>& rounds) {
  std::vector<double> values;
  for (const auto& r : rounds) values.push_back(r.ns);
  return summarise_samples(values);
}

std::optional<sample_summary> time_ratio(const sharing_findings& f) {
  std::vector<double> values;
  for (std::size_t i = 0; i < f.adjacent.size(); ++i) values.push_back(f.adjacent[i].ns / f.padded[i].ns);
  return summarise_samples(values);
}

std::string text_of(const std::optional<sample_summary>& s) { return s ? significant(s->median) : "-"; }

std::string row(std::string_view name, const std::vector<sharing_reading>& rounds) {
  const auto time = times_of(rounds);
  if (!time) return "";
  const auto range = fmt::format("{} to {}", micros(time->min / 1e3), micros(time->max / 1e3));
  return fmt::format("  {:<34}{:>14}{:>22}{:>14}{:>14}\n", name, micros(time->median / 1e3), range,
                     text_of(summary_of(rounds, &sharing_reading::references)),
                     text_of(summary_of(rounds, &sharing_reading::misses)));
}

std::string counters_sentence(const sharing_findings& f) {
  const auto about = [&](field what, std::string_view name) {
    return fmt::format("{} {} an increment in one cache line, {} in a line each", text_of(summary_of(f.adjacent, what)),
                       name, text_of(summary_of(f.padded, what)));
  };
  const auto both = about(&sharing_reading::misses, "cache misses") + "; " +
                    about(&sharing_reading::references, "references of the last-level cache");
  if (*f.found()) return "Found by hardware counters: " + both + ".";
  return "Not found, though there are hardware counters: " + both +
         ". Are the two CPUs threads of one core, which share all caches? --cpus gives others.";
}

json::object summary_json(const std::optional<sample_summary>& s) {
  if (!s) return {{"median", nullptr}, {"min", nullptr}, {"max", nullptr}};
  return {{"median", number(s->median)}, {"min", number(s->min)}, {"max", number(s->max)}};
}

json::object layout_json(counter_layout layout, const std::vector<sharing_reading>& rounds) {
  return {{"layout", to_string(layout)},
          {"ns_per_increment", summary_json(times_of(rounds))},
          {"cache_references_per_increment", summary_json(summary_of(rounds, &sharing_reading::references))},
          {"cache_misses_per_increment", summary_json(summary_of(rounds, &sharing_reading::misses))}};
}

}  // namespace

std::optional<bool> sharing_findings::found() const {
  if (!obstacle.empty() || adjacent.empty()) return std::nullopt;
  // Processors define a reference or a miss of the last level
  // differently: a line that moves within a package may be either.
  for (const field f : {&sharing_reading::misses, &sharing_reading::references}) {
    bool all = true;
    for (std::size_t i = 0; i < adjacent.size(); ++i) {
      all = all && adjacent[i].*f && padded[i].*f && is_higher(adjacent[i], padded[i], f);
    }
    if (all) return true;
  }
  return false;
}

std::string sharing_findings::sentence() const {
  const auto ratio = time_ratio(*this);
  if (!ratio) return "Nothing was measured.";
  const auto time = fmt::format(
      "An increment takes {} times as long in one cache line as in a line each (rounds from {} to {}): a "
      "time, which does not tell its cause.",
      significant(ratio->median), significant(ratio->min), significant(ratio->max));
  if (found()) return counters_sentence(*this) + "\n" + time;
  return fmt::format(
      "Cannot be found here, without hardware counters: {}.\ncachegrind does not show it either: it simulates one "
      "cache "
      "for all threads, in which no line travels.\n{}",
      obstacle, time);
}

std::string sharing_table(const sharing_findings& f) {
  auto out = fmt::format(
      "False sharing, planted: two threads, on CPU {} and CPU {}, increase a counter each, {} times; {} round{}\n",
      f.planted.first_cpu, f.planted.second_cpu, grouped(static_cast<double>(f.planted.increments)), f.adjacent.size(),
      f.adjacent.size() == 1 ? "" : "s");
  out +=
      fmt::format("  {:<34}{:>14}{:>22}{:>14}{:>14}\n", "for an increment", "time", "rounds", "references", "misses");
  return out + row("both counters in one cache line", f.adjacent) + row("a cache line for each", f.padded) +
         f.sentence() + "\n";
}

json::object compose_sharing(const sharing_findings& f) {
  const auto found = f.found();
  json::array layouts{layout_json(counter_layout::adjacent, f.adjacent), layout_json(counter_layout::padded, f.padded)};
  json::object out;
  out["cpus"] = json::array{f.planted.first_cpu, f.planted.second_cpu};
  out["increments"] = f.planted.increments;
  out["rounds"] = f.adjacent.size();
  out["source"] = f.obstacle.empty() ? json::value("hardware") : json::value(nullptr);
  out["not_measured"] = f.obstacle.empty() ? json::value(nullptr) : json::value(f.obstacle);
  out["layouts"] = std::move(layouts);
  out["time_ratio"] = summary_json(time_ratio(f));
  out["found"] = found ? json::value(*found) : json::value(nullptr);
  out["sentence"] = f.sentence();
  return out;
}

}  // namespace quintet::bench
