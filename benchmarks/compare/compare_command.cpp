// SPDX-License-Identifier: BSL-1.0
// compare_command.cpp: `quintet-bench compare`: its options, then plan, table, JSON and page.
#include <fmt/format.h>

#include <memory>
#include <stdexcept>

#include "command_line.hpp"
#include "commands.hpp"
#include "compare/conclusion.hpp"
#include "compare/measuring_options.hpp"
#include "compare/plan.hpp"
#include "compare/settings.hpp"
#include "report/others.hpp"
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
    "  quintet-bench compare --from results.json --with sweep.json --with study.json --html report.html";

constexpr usual_runs default_runs{
    .rounds = 3, .duration = std::chrono::seconds(1), .warm_up = std::chrono::milliseconds(200)};
constexpr usual_runs quick_runs{
    .rounds = 3, .duration = std::chrono::milliseconds(400), .warm_up = std::chrono::milliseconds(100)};

struct chosen {
  std::string workloads, models;
  measuring_options measuring;
  bool no_peers = false, no_counters = false;
};

void complete(compare_settings& s, const chosen& c) {
  s.workloads = parse_workloads(!c.workloads.empty() ? c.workloads : s.quick ? quick_list : default_list);
  s.contenders = contenders_of(parse_models(c.models.empty() ? "all" : c.models), !c.no_peers);
  for (contender& who : s.contenders) who.engine = to_string(s.engine);
  s.counters = !c.no_counters;
  complete_measuring(s, c.measuring, default_runs, quick_runs);
}

comparison read_results(const std::string& path) {
  try {
    return read_comparison(path);
  } catch (const std::invalid_argument& e) {
    throw usage_error(std::string("--from: ") + e.what());
  }
}

// Reads the files of --with. Call it before the runs, so that a bad file fails early.
boost::json::array read_others(const compare_settings& s) {
  if (!s.with_files.empty() && s.html_file.empty())
    throw usage_error("--with: it adds sections to the report; give --html as well");
  boost::json::array others;
  try {
    for (const std::string& file : s.with_files) others.push_back(read_other(file));
  } catch (const std::invalid_argument& e) {
    throw usage_error(std::string("--with: ") + e.what());
  }
  return others;
}

int run_command(const compare_settings& s) {
  const auto others = read_others(s);
  const auto outcome = s.from_file.empty() ? compare(s) : comparison_outcome{read_results(s.from_file), false};
  return conclude(s, outcome, {console_table, compose, [&](const comparison& c) { return html_page(c, others); }});
}

}  // namespace

void add_compare(CLI::App& app) {
  auto* sub = app.add_subcommand(
      "compare", "Compares the five threading models under several workloads: table, JSON, HTML report");
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
  add_measuring_options(*sub, c->measuring, *s, default_runs, quick_runs);
  add_within(*sub, c->measuring);
  add_server_options(*sub, *s);
  sub->add_flag("--no-peers", c->no_peers, "Do not measure the hand-written servers");
  sub->add_flag("--no-counters", c->no_counters, "Do not count system calls");
  add_html(*sub, *s);
  add_parsed(*sub, "--from", s->from_file, same, "Do not measure; print table and report of an earlier --json file");
  sub->add_option("--with", s->with_files,
                  "Add a section to the report: a --json file of sweep, study, contention, memlat, allocators, accept, "
                  "peers, forecast or stress; repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false);
  sub->footer(footer);
  sub->callback([s, c] {
    complete(*s, *c);
    if (const int status = run_command(*s)) throw CLI::RuntimeError(status);
  });
}

}  // namespace quintet::bench
