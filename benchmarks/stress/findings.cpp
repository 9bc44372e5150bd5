// SPDX-License-Identifier: BSL-1.0
// findings.cpp: figures as text and as JSON, and whether they meet their demands.
#include "stress/findings.hpp"

#include "load/report.hpp"

#include <fmt/format.h>
#include <boost/json/array.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace quintet::bench {

std::string number_text(double value) {
  if (!std::isfinite(value)) return "not measured";
  if (value < 0) return "-" + number_text(-value);
  if (value == std::floor(value) || value >= 1000) return with_commas(static_cast<std::uint64_t>(std::llround(value)));
  return value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

void findings::tell(std::string key, std::string label, double value, std::string unit) {
  figures_.push_back({std::move(key), std::move(label), value, std::move(unit), "", true});
}

// With this comparison, NaN meets no demand.
void findings::at_most(std::string key, std::string label, double value, double bound, std::string unit) {
  const bool met = value <= bound;
  auto demand = "at most " + number_text(bound);
  figures_.push_back({std::move(key), std::move(label), value, std::move(unit), std::move(demand), met});
}

void findings::exactly(std::string key, std::string label, double value, double wanted, std::string unit) {
  const bool met = value == wanted;
  auto demand = "must be " + number_text(wanted);
  figures_.push_back({std::move(key), std::move(label), value, std::move(unit), std::move(demand), met});
}

bool findings::passed() const {
  return !failure_ && std::all_of(figures_.begin(), figures_.end(), [](const figure& f) { return f.met; });
}

std::string findings::text() const {
  std::string out;
  for (const figure& f : figures_) {
    const std::string value = number_text(f.value) + (f.unit.empty() ? "" : " " + f.unit);
    std::string verdict;
    if (!f.demand.empty()) verdict = fmt::format("  ({}){}", f.demand, f.met ? "" : "  FAILED");
    out += fmt::format("  {:<52} {:>14}{}\n", f.label, value, verdict);
  }
  for (const std::string& r : remarks_) out += fmt::format("  {}\n", r);
  if (failure_) out += fmt::format("  FAILED: {}\n", *failure_);
  return out;
}

boost::json::object findings::json() const {
  boost::json::object figures, demands;
  for (const figure& f : figures_) {
    figures[f.key] = std::isfinite(f.value) ? boost::json::value(f.value) : boost::json::value(nullptr);
    if (!f.demand.empty()) demands[f.key] = boost::json::object{{"demand", f.demand}, {"met", f.met}};
  }
  boost::json::array remarks;
  for (const std::string& r : remarks_) remarks.emplace_back(r);
  boost::json::object out{
      {"passed", passed()}, {"figures", std::move(figures)}, {"demands", std::move(demands)}, {"remarks", remarks}};
  out["failure"] = failure_ ? boost::json::value(*failure_) : boost::json::value(nullptr);
  return out;
}

}  // namespace quintet::bench
