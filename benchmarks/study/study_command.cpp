// SPDX-License-Identifier: BSL-1.0
// study_command.cpp: `quintet-bench study`: its options, and the way from servers to table and JSON.
#include <memory>
#include <stdexcept>

#include "command_line.hpp"
#include "commands.hpp"
#include "compare/conclusion.hpp"
#include "compare/measuring_options.hpp"
#include "compare/plan.hpp"
#include "study/study_document.hpp"
#include "study/study_table.hpp"

namespace quintet::bench {
namespace {

constexpr auto* default_models = "2,3,4,5";

constexpr auto* footer =
    "A figure that cannot be had on this machine is not there, and a line says why and how to get it.\n"
    "Examples:\n"
    "  quintet-bench study\n"
    "  quintet-bench study --models 3,5 --workload cpu:200us --json today.json --against yesterday.json";

constexpr usual_runs default_runs{
    .rounds = 3, .duration = std::chrono::seconds(1), .warm_up = std::chrono::milliseconds(200)};
constexpr usual_runs quick_runs{
    .rounds = 1, .duration = std::chrono::milliseconds(300), .warm_up = std::chrono::milliseconds(100)};

struct chosen {
  std::string workload = "echo", models = default_models, against;
  measuring_options measuring;
};

std::string one_workload(const std::string& text) {
  if (parse_workloads(text).size() != 1) throw usage_error("a study is of one workload");
  return text;
}

void complete(compare_settings& s, const chosen& c) {
  s.workloads = parse_workloads(c.workload);
  s.contenders = contenders_of(parse_models(c.models), false);
  for (contender& who : s.contenders) who.engine = to_string(s.engine);
  complete_measuring(s, c.measuring, default_runs, quick_runs);
}

std::vector<subject> earlier(const std::string& path) {
  if (path.empty()) return {};
  try {
    return read_study(path);
  } catch (const std::invalid_argument& e) {
    throw usage_error(std::string("--against: ") + e.what());
  }
}

int run_command(const compare_settings& s, const std::string& against) {
  const auto before = earlier(against);
  const auto found = study(s);
  return conclude(s, found.compared,
                  {[&](const comparison&) { return study_table(found, before); },
                   [&](const comparison&) { return compose_study(found); },
                   {}});
}

}  // namespace

void add_study(CLI::App& app) {
  auto* sub =
      app.add_subcommand("study", "What a server under load did to the machine: calls, switches, caches, locks");
  const auto s = std::make_shared<compare_settings>();
  const auto c = std::make_shared<chosen>();
  const auto same = [](const std::string& text) { return text; };
  sub->add_flag("--quick", s->quick, "One short round");
  add_parsed(*sub, "--workload", c->workload, one_workload, "One of those of compare (default: echo)");
  add_parsed(
      *sub, "--models", c->models, [](const std::string& t) { return parse_models(t), t; },
      "Comma-separated names or numbers, or all (default: 2,3,4,5)");
  add_parsed(*sub, "--against", c->against, same, "An earlier --json file: before and after beside each other");
  add_measuring_options(*sub, c->measuring, *s, default_runs, quick_runs);
  add_server_options(*sub, *s);
  sub->footer(footer);
  sub->callback([s, c] {
    complete(*s, *c);
    if (const int status = run_command(*s, c->against)) throw CLI::RuntimeError(status);
  });
}

}  // namespace quintet::bench
