// SPDX-License-Identifier: BSL-1.0
// sharing.cpp: rounds with two counters in one cache line and in two, under perf stat if it can count.
#include "study/sharing.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "compare/child_process.hpp"
#include "compare/interruption.hpp"
#include "compare/progress.hpp"
#include "report/text.hpp"
#include "study/perf_texts.hpp"
#include "study/perf_tool.hpp"

namespace quintet::bench {
namespace {

using namespace std::chrono_literals;
using arguments = std::vector<std::string>;

constexpr auto patience = 120s;
constexpr double expected_ns = 30;  // expected for an increment with contention

arguments command_of(const sharing_settings& s, counter_layout layout) {
  return {s.program,
          "study",
          "--false-sharing",
          "--layout",
          std::string(to_string(layout)),
          "--increments",
          std::to_string(s.planted.increments),
          "--cpus",
          fmt::format("{},{}", s.planted.first_cpu, s.planted.second_cpu)};
}

std::string plain_output(const arguments& command) {
  child_process counting("the counting process", command);
  const auto deadline = child_process::clock::now() + patience;
  std::string out;
  while (const auto line = counting.read_line(deadline)) out += *line + '\n';
  if (counting.wait(deadline) != 0) throw run_error("the counting process " + counting.ending());
  return out;
}

std::string counted_output(const arguments& command) {
  arguments all{"stat", "-x,", "-e", hardware_events, "--"};
  all.insert(all.end(), command.begin(), command.end());
  return perf_output(all);
}

// Parses this program's output for one layout: "adjacent 12.3 ns an increment, of 20000000".
planted_result parse_result(const std::string& printed, counter_layout layout) {
  const auto line = printed.find(fmt::format("{} ", to_string(layout)));
  const auto number_behind = [&](std::string_view words) {
    const auto at = line == printed.npos ? line : printed.find(words, line);
    const double value = at == printed.npos ? 0 : std::strtod(printed.c_str() + at + words.size(), nullptr);
    if (value <= 0) throw run_error("the counting process printed nothing");
    return value;
  };
  return {number_behind(" "), static_cast<std::uint64_t>(number_behind(", of "))};
}

sharing_reading read(const sharing_settings& s, counter_layout layout, bool hardware) {
  const auto command = command_of(s, layout);
  const auto printed = hardware ? counted_output(command) : plain_output(command);
  const auto result = parse_result(printed, layout);
  sharing_reading out{result.ns, {}, {}};
  if (!hardware) return out;
  const auto counts = parse_perf_stat(printed);
  const auto each = [&](std::string_view event) -> std::optional<double> {
    const auto found = counts.find(event);
    if (found == counts.end() || !found->second) return std::nullopt;
    return *found->second / static_cast<double>(result.increments);
  };
  out.references = each("cache-references");
  out.misses = each("cache-misses");
  return out;
}

}  // namespace

sharing_findings find_sharing(const sharing_settings& s) {
  sharing_findings out{.planted = s.planted, .adjacent = {}, .padded = {}, .obstacle = hardware_obstacle()};
  const double seconds = expected_ns * static_cast<double>(s.planted.increments) / 1e9;
  const interruption_guard guard;
  progress shown(std::size_t{2} * s.rounds, 2 * s.rounds * seconds);
  try {
    for (unsigned round = 1; round <= s.rounds; ++round) {
      sharing_reading found[2];
      for (const counter_layout layout : all_layouts) {
        const auto label = fmt::format("{} counters round {}", to_string(layout), round);
        shown.begins(label);
        auto& reading = found[static_cast<std::size_t>(layout)];
        reading = read(s, layout, out.obstacle.empty());
        shown.done(label, micros(reading.ns / 1e3) + " an increment", seconds);
      }
      out.adjacent.push_back(found[0]);
      out.padded.push_back(found[1]);
    }
  } catch (const interrupted&) {
    out.interrupted = true;
  }
  return out;
}

}  // namespace quintet::bench
