// SPDX-License-Identifier: BSL-1.0
// diff_command.cpp: `quintet-bench diff`: its options, and its exit status.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>
#include <optional>

#include "command_line.hpp"
#include "commands.hpp"
#include "diff/diff_report.hpp"
#include "output_file.hpp"

namespace quintet::bench {
namespace {

constexpr auto* footer =
    "Reads files that compare, peers or sweep wrote with --json.\n"
    "Examples:\n"
    "  quintet-bench diff yesterday.json today.json\n"
    "  quintet-bench diff main.json branch.json --metric server_cpu_us_per_request --fail-above 10%";

struct chosen {
  std::string before, after, json_file;
  std::optional<double> fail_above;
  diff_rules rules;
};

double parse_percent(const std::string& text) {
  double value = 0;
  const auto* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  const bool whole = rest == end || (rest + 1 == end && *rest == '%');
  if (error != std::errc() || !whole || !(value > 0 && value <= 1000))
    throw usage_error('"' + text + "\" is not a percentage; it must be above 0 and at most 1000, such as 10%");
  return value / 100;
}

std::vector<ranking_metric> parse_metrics(const std::string& text) {
  std::vector<ranking_metric> out;
  std::string_view rest = text;
  while (true) {
    const auto comma = rest.find(',');
    try {
      out.push_back(find_metric(rest.substr(0, comma)));
    } catch (const std::invalid_argument& e) {
      throw usage_error(e.what());
    }
    if (comma == rest.npos) return out;
    rest.remove_prefix(comma + 1);
  }
}

diff_side read_side(const std::string& path) {
  try {
    return {path, read_comparison(path)};
  } catch (const std::invalid_argument& e) {
    throw usage_error(e.what());
  }
}

// Returns a line for each loss that --fail-above reports.
std::vector<std::string> losses(const differences& d, double above) {
  std::vector<std::string> out;
  for (const change& c : d.changes) {
    if (c.verdict == tendency::slower && c.loss() > above)
      out.push_back(
          fmt::format("{}, {}: {} is {:.1f} % worse", c.what.workload, label_of(c.what), c.by.key, c.loss() * 100));
  }
  for (const unpaired& u : d.others) {
    if (u.broken) out.push_back(fmt::format("{}, {}: {}", u.what.workload, label_of(u.what), u.why));
  }
  return out;
}

int run_command(const chosen& c) {
  const auto before = read_side(c.before), after = read_side(c.after);
  const auto found = find_differences(before.found, after.found, c.rules);
  const bool paired = !found.changes.empty() ||
                      std::any_of(found.others.begin(), found.others.end(), [](const unpaired& u) { return u.broken; });
  if (!paired)
    throw usage_error(fmt::format("{} and {} have no combination of workload and server in common with such figures",
                                  c.before, c.after));
  fmt::print("{}", diff_table(before, after, found));
  std::fflush(stdout);
  if (!c.json_file.empty()) write_output(c.json_file, pretty(compose_diff(before, after, found)));
  if (!c.fail_above) return 0;
  const auto lost = losses(found, *c.fail_above);
  for (const auto& line : lost) fmt::print(stderr, "failed: {}\n", line);
  return lost.empty() ? 0 : 1;
}

}  // namespace

void add_diff(CLI::App& app) {
  auto* sub = app.add_subcommand(
      "diff", "Compares the results of two dates or builds: faster, slower, no difference, or noise");
  const auto c = std::make_shared<chosen>();
  sub->add_option("before", c->before, "Earlier results")->required()->type_name("A.json");
  sub->add_option("after", c->after, "Later results")->required()->type_name("B.json");
  add_parsed(*sub, "--metric,--metrics", c->rules.metrics, parse_metrics,
             "Comma-separated keys of figures (default: the main figure of each workload, and CPU per request)");
  add_parsed(*sub, "--tolerance", c->rules.tolerance, parse_percent,
             "Report noise where a change of this size cannot be ruled out (default: 10%)");
  add_parsed(*sub, "--fail-above", c->fail_above, parse_percent,
             "Exit status 1 if something is slower by more than this, or fails now");
  add_parsed(*sub, "--json", c->json_file, parse_output,
             "Write the comparison to this file; -: to the standard output");
  sub->footer(footer);
  sub->callback([c] {
    if (const int status = run_command(*c)) throw CLI::RuntimeError(status);
  });
}

}  // namespace quintet::bench
