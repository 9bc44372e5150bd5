// SPDX-License-Identifier: BSL-1.0
// sweep_command.cpp: `quintet-bench sweep`: its options, then axis, table and JSON.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <memory>

#include "command_line.hpp"
#include "commands.hpp"
#include "compare/conclusion.hpp"
#include "compare/measuring_options.hpp"
#include "compare/plan.hpp"
#include "sweep/axis.hpp"
#include "sweep/sweep_page.hpp"
#include "sweep/sweep_report.hpp"

namespace quintet::bench {
namespace {

constexpr auto* footer =
    "Examples:\n"
    "  quintet-bench sweep connections --json connections.json --html connections.html\n"
    "  quintet-bench sweep handler-us --workload blocking --values 0,200,1000 --rounds 5\n"
    "  quintet-bench sweep size --models all --within 2min";

constexpr usual_runs default_runs{
    .rounds = 3, .duration = std::chrono::milliseconds(500), .warm_up = std::chrono::milliseconds(100)};
constexpr usual_runs quick_runs{
    .rounds = 3, .duration = std::chrono::milliseconds(200), .warm_up = std::chrono::milliseconds(100)};
constexpr std::size_t other_files = 100;  // open files of a server or client beside its connections

struct chosen {
  std::string axis, workload, models, values;
  measuring_options measuring;
  bool threads_given = false;
};

struct job {
  const axis* what;
  std::vector<double> values;
  compare_settings settings;
};

// Parses an option once the axis is known, because the valid values depend on it.
template <class Parse>
auto parse_option(const char* name, const std::string& given, std::string_view usual, Parse parse) {
  try {
    return parse(given.empty() ? std::string(usual) : given);
  } catch (const usage_error& e) {
    throw usage_error(fmt::format("{}: {}", name, e.what()));
  }
}

job complete(const compare_settings& given, const chosen& c) {
  const axis& a = require_axis(c.axis);
  job out{&a, {}, given};
  compare_settings& s = out.settings;
  const auto base = parse_option("--workload", c.workload, a.default_workload,
                                 [&](const std::string& t) { return parse_base(a, t); });
  out.values =
      parse_option("--values", c.values, a.default_values, [&](const std::string& t) { return parse_values(a, t); });
  s.workloads = vary(a, base, out.values);
  if (s.workloads.front().threads && c.threads_given)
    throw usage_error("--loops and --workers are varied by a sweep of threads; leave them out");
  unsigned most = 0;
  for (const workload& w : s.workloads) most = std::max(most, w.connections);
  require_files(fmt::format("--values: {} connections", most), most + other_files);
  s.contenders = contenders_of(parse_models(c.models.empty() ? a.default_models : std::string_view(c.models)), false);
  for (contender& who : s.contenders) who.engine = to_string(s.engine);
  s.counters = false;
  complete_measuring(s, c.measuring, default_runs, quick_runs);
  return out;
}

int run_command(const job& j) {
  auto outcome = compare(j.settings);
  outcome.found.command = "sweep";
  outcome.found.settings["axis"] = j.what->name;
  boost::json::array values;
  for (const double value : j.values) values.push_back(number(value));
  outcome.found.settings["values"] = std::move(values);
  const axis& a = *j.what;
  return conclude(j.settings, outcome,
                  {[&](const comparison& found) { return sweep_table(a, found); },
                   [&](const comparison& found) { return compose_sweep(a, found); },
                   [&](const comparison& found) { return sweep_page(a, found); }});
}

void add_options(CLI::App& app, compare_settings& s, chosen& c) {
  app.add_option("axis", c.axis, "What to vary, one of those below")->required()->type_name("AXIS");
  app.add_flag("--quick", s.quick, "Short runs");
  add_parsed(
      app, "--workload", c.workload, [](const std::string& t) { return parse_workloads(t), t; },
      "Workload to vary (default: by axis, see below)");
  add_parsed(
      app, "--models", c.models, [](const std::string& t) { return parse_models(t), t; },
      "Comma-separated names or numbers, or all (default: by axis, see below)");
  app.add_option("--values", c.values, "Comma-separated values, two or more (default: by axis, see below)");
  add_measuring_options(app, c.measuring, s, default_runs, quick_runs);
  add_within(app, c.measuring);
  add_html(app, s);
  add_server_options(app, s);
}

std::string axis_list() {
  std::string out = "What can vary, with its default workload, models and values:\n";
  for (const axis& a : axes)
    out += fmt::format("  {:<13}{}\n{:15}{}; {}; {}\n", a.name, a.help, "", a.default_workload, a.default_models,
                       a.default_values);
  return out;
}

}  // namespace

void add_sweep(CLI::App& app) {
  auto* sub = app.add_subcommand("sweep", "Varies one thing, such as connections: the curves, and where they cross");
  const auto s = std::make_shared<compare_settings>();
  const auto c = std::make_shared<chosen>();
  add_options(*sub, *s, *c);
  sub->footer(axis_list() + footer);
  sub->callback([s, c, sub] {
    c->threads_given = sub->count("--loops") + sub->count("--workers") > 0;
    if (const int status = run_command(complete(*s, *c))) throw CLI::RuntimeError(status);
  });
}

}  // namespace quintet::bench
