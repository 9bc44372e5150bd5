// SPDX-License-Identifier: BSL-1.0
// conclusions.cpp: everything that follows from the curves of a sweep, and the sentences for it.
#include "sweep/conclusions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/text.hpp"

namespace quintet::bench {
namespace {

constexpr double near_peak = 0.9;

std::string with_unit(const axis& a, const std::string& value) {
  return a.unit.empty() ? value : fmt::format("{} {}", value, a.unit);
}
std::string measured(const axis& a, double value) { return with_unit(a, a.text(value)); }
// Interpolated, so it has few digits.
std::string place(const axis& a, double at) {
  return a.field == &run_result::handler_us ? micros(at) : with_unit(a, significant(at));
}

std::string as_good(const lead& l) {
  return l.as_good.empty() ? "" : fmt::format(" ({} cannot be told apart from it)", joined(l.as_good));
}

std::string lead_sentence(const axis& a, const std::vector<lead>& all) {
  if (all.size() == 1) return fmt::format("{} serves most requests throughout{}.", all[0].label, as_good(all[0]));
  auto out = fmt::format("Up to {} {} serves most requests{}", place(a, all[1].from), all[0].label, as_good(all[0]));
  for (std::size_t i = 1; i + 1 < all.size(); ++i)
    out += fmt::format("; from there to {} {}{}", place(a, all[i + 1].from), all[i].label, as_good(all[i]));
  return out + fmt::format("; from {} on {}{}.", place(a, all.back().from), all.back().label, as_good(all.back()));
}

std::string crossing_sentence(const axis& a, const crossing& c) {
  return fmt::format("{} overtakes {} at {} (measured apart at {} and at {}).", c.after, c.before, place(a, c.at),
                     measured(a, c.low), measured(a, c.high));
}

std::string near_peak_sentence(const axis& a, const curve& c) {
  const auto value = c.peak().figure.median;
  return fmt::format("{} has {} of its peak ({}) from {} on.", c.label, percent(near_peak),
                     a.figure == &run_result::mb_per_s ? significant(value) + " MB/s" : grouped(value) + " requests/s",
                     measured(a, c.reached(near_peak)));
}

bool single_round(const std::vector<curve>& all) {
  const auto once = [](const curve_point& p) { return p.figure.samples < 2; };
  return std::any_of(all.begin(), all.end(),
                     [&](const curve& c) { return std::any_of(c.points.begin(), c.points.end(), once); });
}

}  // namespace

conclusions::conclusions(const axis& a, std::span<const combination> summary)
    : figures(curves_of(summary, a.field, a.figure)) {
  const auto speeds = curves_of(summary, a.field, &run_result::requests_per_s);
  if (speeds.size() > 1) {
    leading = leads(speeds);
    crossed = crossings(speeds);
  }
  if (has_published(a.field, summary)) {
    for (const auto& c : figures) shapes.push_back(evaluate_shape(c));
  } else if (a.rising) {
    for (const auto& c : figures) sentences.push_back(near_peak_sentence(a, c));
  }
  for (const auto& shape : shapes) {
    sentences.push_back(shape.label + ", " + shape.rise);
    sentences.push_back(shape.label + ", " + shape.fall);
  }
  if (!leading.empty()) sentences.push_back(lead_sentence(a, leading));
  for (const auto& c : crossed) sentences.push_back(crossing_sentence(a, c));
  if (single_round(figures))
    sentences.emplace_back("All this in a single round; more rounds would show what of it holds.");
}

}  // namespace quintet::bench
