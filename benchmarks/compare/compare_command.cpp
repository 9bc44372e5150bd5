// SPDX-License-Identifier: BSL-1.0
// compare_command.cpp: `quintet-bench compare`: its options, and the way from a plan to table, JSON and page.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <random>

#include "command_line.hpp"
#include "commands.hpp"
#include "compare/compare.hpp"
#include "compare/plan.hpp"
#include "compare/settings.hpp"
#include "output_file.hpp"
#include "report/models.hpp"
#include "report/page.hpp"
#include "report/table.hpp"

namespace quintet::bench {
namespace {

constexpr auto* default_list = "echo,pipeline,cpu:200us,blocking:2ms,mixed,heartbeat";
constexpr auto* quick_list = "echo,cpu:200us,mixed";

constexpr auto* footer =
    "Examples:\n"
    "  quintet-bench compare --quick\n"
    "  quintet-bench compare --workloads echo,cpu:500us --rounds 5 --json results.json --html report.html\n"
    "  quintet-bench compare --from results.json --html report.html";

// What was not given on the command line.
struct chosen {
  std::string workloads, models;
  std::optional<std::chrono::nanoseconds> duration, warm_up, within;
  std::optional<unsigned> rounds;
  std::optional<std::uint64_t> seed;
  bool no_peers = false, no_counters = false;
};

std::chrono::nanoseconds positive_duration(const std::string& text) {
  const auto value = parse_duration(text);
  using namespace std::chrono_literals;
  if (value < 50ms || value > 1h) throw usage_error('"' + text + "\" is out of range; allowed are 50ms to 60min");
  return value;
}

void complete(compare_settings& s, const chosen& c) {
  using namespace std::chrono_literals;
  s.workloads = parse_workloads(!c.workloads.empty() ? c.workloads : s.quick ? quick_list : default_list);
  s.models =
      c.models.empty() ? std::vector<std::string>(model_names.begin(), model_names.end()) : parse_models(c.models);
  s.peers = !c.no_peers;
  s.counters = !c.no_counters;
  s.rounds = c.rounds.value_or(3);
  s.duration = c.duration.value_or(s.quick ? 400ms : 1s);
  s.warm_up = c.warm_up.value_or(s.quick ? 100ms : 200ms);
  if (c.within) fit_within(s, *c.within);
  s.seed = c.seed ? *c.seed : std::random_device()() % 1'000'000;
  if (s.program.empty()) s.program = std::filesystem::read_symlink("/proc/self/exe").string();
}

comparison read_results(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw usage_error("--from: cannot read " + path);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  try {
    return parse_comparison(text);
  } catch (const std::invalid_argument& e) {
    throw usage_error("--from: " + path + ": " + e.what());
  }
}

void write_outputs(const compare_settings& s, const comparison& c) {
  fmt::print("{}", console_table(c));
  std::fflush(stdout);
  if (!s.json_file.empty()) write_output(s.json_file, pretty(compose(c)));
  if (!s.html_file.empty()) write_output(s.html_file, html_page(c));
  if (!s.json_file.empty() && s.json_file != "-") fmt::print("results: {}\n", s.json_file);
  if (!s.html_file.empty() && s.html_file != "-") fmt::print("report:  {}\n", s.html_file);
}

int run_command(const compare_settings& s) {
  const auto outcome = s.from_file.empty() ? compare(s) : comparison_outcome{read_results(s.from_file), false};
  std::fflush(stderr);
  write_outputs(s, outcome.found);
  if (outcome.interrupted) return 130;
  if (!s.from_file.empty()) return 0;
  const auto wrong = [](const run_result& r) { return r.error || r.failed.value_or(0) > 0; };
  const auto& results = outcome.found.results;
  return std::any_of(results.begin(), results.end(), wrong) ? 1 : 0;
}

}  // namespace

void add_compare(CLI::App& app) {
  auto* sub = app.add_subcommand("compare", "Five threading models under several workloads: table, JSON, HTML report");
  const auto s = std::make_shared<compare_settings>();
  const auto c = std::make_shared<chosen>();
  const auto same = [](const std::string& text) { return text; };
  sub->add_flag("--quick", s->quick, "echo, cpu and mixed, with short runs: well under a minute");
  add_parsed(
      *sub, "--workloads", c->workloads, [](const std::string& t) { return parse_workloads(t), t; },
      fmt::format("Comma-separated (default: {})", default_list));
  add_parsed(
      *sub, "--models", c->models, [](const std::string& t) { return parse_models(t), t; },
      "Comma-separated names or numbers (default: all five)");
  add_parsed(*sub, "--rounds", c->rounds, number_in<unsigned>(1, 1000), "Runs of each combination (default: 3)");
  auto* duration = add_parsed(*sub, "--duration", c->duration, positive_duration,
                              "Measured time of a run (default: 1s; 400ms with --quick)");
  add_parsed(*sub, "--warm-up", c->warm_up, positive_duration, "Before it (default: 200ms; 100ms with --quick)");
  add_parsed(*sub, "--within", c->within, positive_duration,
             "Instead of --duration: all runs together take about this long")
      ->excludes(duration);
  add_parsed(*sub, "--loops", s->loops, number_in<unsigned>(1, 1024),
             "Loops of models 4 and 5 (default: the server's CPUs)");
  add_parsed(*sub, "--workers", s->workers, parse_range, "MIN..MAX workers of models 3 and 5 (default: 1..4)");
  add_parsed(*sub, "--seed", c->seed, number_in<std::uint64_t>(0),
             "Of the random order of runs (default: another each time)");
  sub->add_flag("--no-peers", c->no_peers, "Leave out the hand-written servers");
  sub->add_flag("--no-counters", c->no_counters, "Leave out the pass that counts system calls");
  add_parsed(*sub, "--json", s->json_file, parse_output, "Write all results to this file");
  add_parsed(*sub, "--html", s->html_file, parse_output, "Write the report, one self-contained page, to this file");
  add_parsed(*sub, "--from", s->from_file, same, "Measure nothing: table and report of an earlier --json file");
  add_parsed(*sub, "--program", s->program, same, "The quintet-bench that serves and loads (default: this one)");
  sub->footer(footer);
  sub->callback([s, c] {
    complete(*s, *c);
    if (const int status = run_command(*s)) throw CLI::RuntimeError(status);
  });
}

}  // namespace quintet::bench
