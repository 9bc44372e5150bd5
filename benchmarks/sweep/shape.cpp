// SPDX-License-Identifier: BSL-1.0
// shape.cpp: compares throughput over connections with a published curve.
#include "sweep/shape.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/text.hpp"

namespace quintet::bench {
namespace {

constexpr double published_bytes = 8;
constexpr double few = 10, enough = 30, many = 5000;  // connections
constexpr double near_peak = 0.9, fallen = 0.75;      // fractions of the peak

const char* outcome(bool as_published) { return as_published ? "as published" : "not here"; }

std::string share(double part) { return fmt::format("{:.0f} %", part * 100); }

std::string connections(double count) { return grouped(count) + (count == 1 ? " connection" : " connections"); }

}  // namespace

std::optional<double> published_at(double connections) {
  const auto found = std::find_if(published.begin(), published.end(),
                                  [&](const published_point& p) { return p.connections == connections; });
  return found == published.end() ? std::nullopt : std::optional(found->requests_per_s);
}

bool has_published(measurement run_result::* axis, std::span<const combination> summary) {
  if (axis != &run_result::connections || summary.empty()) return false;
  const run_result& any = summary.front().first;
  return any.workload == "echo" && any.message_bytes.value_or(published_bytes) == published_bytes;
}

shape_verdict evaluate_shape(const curve& c) {
  shape_verdict out{.label = c.label, .rises = {}, .falls = {}, .rise = {}, .fall = {}};
  const auto& peak = c.peak();
  const auto part = [&](const curve_point& p) { return p.figure.median / peak.figure.median; };
  const curve_point* by_then = nullptr;  // the best of those from `few` to `enough` connections
  for (const auto& p : c.points) {
    if (p.value >= few && p.value <= enough && (!by_then || part(p) > part(*by_then))) by_then = &p;
  }
  const auto& first = c.points.front();
  const auto& last = c.points.back();
  const bool begins_low = first.value >= few || part(first) < near_peak;
  if (by_then) {
    out.rises = part(*by_then) >= near_peak && begins_low;
    out.rise = fmt::format("the rise: {}; {} of its peak at {}", outcome(*out.rises), share(part(*by_then)),
                           connections(by_then->value));
    if (first.value < few) out.rise += fmt::format(", {} at {}", share(part(first)), connections(first.value));
    out.rise += fmt::format(" (its peak: {} requests/s at {}{}).", grouped(peak.figure.median), connections(peak.value),
                            peak.client_bound ? ", where the client was the bottleneck" : "");
  } else {
    out.rise = "the rise: not judged; it needs a value from 10 to 30.";
  }
  if (last.value >= many) {
    out.falls = part(last) <= fallen;
    out.fall = fmt::format("the fall: {}; {} of its peak is left at {} (published: {}).", outcome(*out.falls),
                           share(part(last)), connections(last.value),
                           share(published.back().requests_per_s / published_peak));
  } else {
    out.fall = "the fall: not judged; it needs a value of 5000 or more.";
  }
  return out;
}

}  // namespace quintet::bench
