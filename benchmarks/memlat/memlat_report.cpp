// SPDX-License-Identifier: BSL-1.0
// memlat_report.cpp: a line for each level and for each pair of CPUs.
#include "memlat/memlat_report.hpp"

#include <fmt/format.h>

#include <boost/json/array.hpp>

#include "report/result.hpp"
#include "report/statistics.hpp"
#include "report/text.hpp"

namespace quintet::bench {
namespace json = boost::json;

namespace {

std::string size_text(double bytes) {
  if (bytes <= 0) return "one line";
  return bytes < 1 << 20 ? fmt::format("{} KiB", grouped(bytes / 1024)) : mebibytes(bytes);
}

std::string line(const latency& l) {
  const auto s = summarise_samples(l.ns);
  if (!s) return "";
  return fmt::format("  {:<22}{:>12}{:>10.2f} ns{:>20}\n", l.name, size_text(l.bytes), s->median,
                     fmt::format("{:.2f} to {:.2f}", s->min, s->max));
}

// Returns a remark if the last cache is hardly faster than memory.
std::string remark(const std::vector<latency>& loads) {
  if (loads.size() < 2) return "";
  const auto last = summarise_samples(loads[loads.size() - 2].ns), memory = summarise_samples(loads.back().ns);
  if (!last || !memory || last->median < 0.7 * memory->median) return "";
  return fmt::format("  {} is hardly faster than {}: others use it meanwhile, or it is smaller than the kernel tells\n",
                     loads[loads.size() - 2].name, loads.back().name);
}

void add(json::array& to, const latency& l, const char* what) {
  const auto s = summarise_samples(l.ns);
  if (!s) return;
  json::array rounds;
  for (const double value : l.ns) rounds.push_back(number(value));
  to.push_back(json::object{{"what", what},
                            {"name", l.name},
                            {"bytes", l.bytes > 0 ? number(l.bytes, true) : json::value(nullptr)},
                            {"median_ns", number(s->median)},
                            {"min_ns", number(s->min)},
                            {"max_ns", number(s->max)},
                            {"rounds", std::move(rounds)}});
}

}  // namespace

std::string memlat_table(const memlat_findings& f) {
  auto out = fmt::format("a load that waits for the one before\n  {:<22}{:>12}{:>13}{:>20}\n", "", "working set",
                         "median", "rounds from");
  for (const latency& l : f.loads) out += line(l);
  out += remark(f.loads);
  out += "a cache line on its way from one CPU to another\n";
  for (const latency& l : f.passes) out += line(l);
  out += "\nNot known:\n";
  for (const auto& told : f.not_known) out += "  " + told + "\n";
  return out;
}

json::object compose_memlat(const memlat_findings& f) {
  json::array results, not_known;
  for (const latency& l : f.loads) add(results, l, "load");
  for (const latency& l : f.passes) add(results, l, "pass");
  for (const auto& told : f.not_known) not_known.emplace_back(told);
  return {{"results", std::move(results)}, {"not_known", std::move(not_known)}};
}

}  // namespace quintet::bench
