// SPDX-License-Identifier: BSL-1.0
// surroundings.cpp: compares machine, build and settings of two files.
#include "diff/surroundings.hpp"

#include <fmt/format.h>

#include <boost/json/serialize.hpp>

#include "report/summary.hpp"
#include "report/text.hpp"
#include "report/verdict.hpp"

namespace quintet::bench {
namespace json = boost::json;

namespace {

struct fact {
  std::string_view key, name;
};
constexpr fact machine_facts[] = {{"cpu_model", "CPU"},        {"cores", "number of CPUs"}, {"memory_bytes", "memory"},
                                  {"os", "operating system"},  {"kernel", "kernel"},        {"compiler", "compiler"},
                                  {"flags", "compiler flags"}, {"boost", "Boost"},          {"allocator", "allocator"}};
constexpr fact run_facts[] = {{"duration_s", "duration of a run"}, {"warm_up_s", "warm-up"}};

std::string text_of(const json::value& value) {
  const auto* text = value.if_string();
  return text ? std::string(*text) : json::serialize(value);
}

// A value that one of the files lacks counts as equal.
template <std::size_t Count>
void add_differences(std::vector<std::string>& to, const fact (&facts)[Count], const json::object& before,
                     const json::object& after) {
  for (const fact& f : facts) {
    const auto* a = before.if_contains(f.key);
    const auto* b = after.if_contains(f.key);
    if (a && b && *a != *b) to.push_back(fmt::format("another {}: {}, then {}", f.name, text_of(*a), text_of(*b)));
  }
}

void add_disturbances(std::vector<std::string>& to, const comparison& c, std::string_view which) {
  const auto summary = summarise(c.results);
  for (const auto& name : workload_names(summary)) {
    if (const auto others = disturbance(summary, name))
      to.push_back(fmt::format("while {} was measured for the {} file, other programs had {} of the CPUs", name, which,
                               percent(*others)));
  }
}

void add_placements(std::vector<std::string>& to, const comparison& before, const comparison& after) {
  for (const run_result& a : before.results) {
    for (const run_result& b : after.results) {
      const bool moved = a.server_cpus != b.server_cpus || a.client_cpus != b.client_cpus;
      if (!moved || !same_combination(a, b)) continue;
      to.push_back(fmt::format("other CPUs: {} had the server on CPU {} and the client on CPU {}, then on {} and {}",
                               a.workload, a.server_cpus, a.client_cpus, b.server_cpus, b.client_cpus));
      return;
    }
  }
}

}  // namespace

std::vector<std::string> warnings(const comparison& before, const comparison& after) {
  std::vector<std::string> out;
  add_differences(out, machine_facts, before.environment, after.environment);
  add_differences(out, run_facts, before.settings, after.settings);
  if (before.command != after.command)
    out.push_back(fmt::format("another command: {}, then {}", before.command, after.command));
  add_placements(out, before, after);
  add_disturbances(out, before, "first");
  add_disturbances(out, after, "second");
  return out;
}

}  // namespace quintet::bench
