// SPDX-License-Identifier: BSL-1.0
// study_command.cpp: `quintet-bench study`: its options, then servers, table and JSON.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <stdexcept>

#include "command_line.hpp"
#include "commands.hpp"
#include "compare/conclusion.hpp"
#include "compare/environment.hpp"
#include "compare/measuring_options.hpp"
#include "compare/plan.hpp"
#include "output_file.hpp"
#include "study/sharing.hpp"
#include "study/study_document.hpp"
#include "study/study_table.hpp"

namespace quintet::bench {
namespace {

constexpr auto* default_models = "2,3,4,5";

constexpr auto* footer =
    "Figures that are not available on this machine are left out; a line says why and how to get them.\n"
    "Examples:\n"
    "  quintet-bench study\n"
    "  quintet-bench study --models 3,5 --workload cpu:200us --json today.json --against yesterday.json\n"
    "  quintet-bench study --false-sharing\n"
    "  perf c2c record quintet-bench study --false-sharing --layout adjacent";

constexpr usual_runs default_runs{
    .rounds = 3, .duration = std::chrono::seconds(1), .warm_up = std::chrono::milliseconds(200)};
constexpr usual_runs quick_runs{
    .rounds = 1, .duration = std::chrono::milliseconds(300), .warm_up = std::chrono::milliseconds(100)};

constexpr std::uint64_t usual_increments = 10'000'000, quick_increments = 2'000'000;

struct chosen {
  std::string workload = "echo", models = default_models, against;
  measuring_options measuring;
  bool false_sharing = false;
  std::optional<counter_layout> layout;
  std::optional<std::uint64_t> increments;
  cpu_list cpus;
};

std::string one_workload(const std::string& text) {
  if (parse_workloads(text).size() != 1) throw usage_error("a study has one workload; give only one");
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

// Returns nullopt if there is one CPU.
std::optional<planted_counters> counters_of(const compare_settings& s, const chosen& c) {
  const auto cpus = c.cpus.empty() ? allowed_cpus() : c.cpus;
  if (cpus.size() < 2) return std::nullopt;
  return planted_counters{cpus[0], cpus[1], c.increments.value_or(s.quick ? quick_increments : usual_increments)};
}

// Measures one layout alone, for perf stat or a tool of the user.
void count_alone(const planted_counters& planted, counter_layout layout) {
  const auto found = count_side_by_side(planted, layout);
  fmt::print("{} {:.4f} ns an increment, of {}\n", to_string(layout), found.ns, found.increments);
}

int run_false_sharing(const compare_settings& given, const chosen& c) {
  const auto planted = counters_of(given, c);
  if (!planted) {
    fmt::print("False sharing cannot be shown: threads that take turns on one CPU never contend for a cache line.\n");
    return 0;
  }
  if (c.layout) return count_alone(*planted, *c.layout), 0;
  compare_settings s = given;
  complete_measuring(s, c.measuring, default_runs, quick_runs);
  const environment machine;
  const auto found = find_sharing({*planted, s.rounds, s.program});
  comparison about;
  about.command = "study";
  about.environment = machine.finish();
  about.settings["rounds"] = s.rounds;
  about.settings["interrupted"] = found.interrupted;
  return conclude(s, {std::move(about), found.interrupted},
                  {[&](const comparison&) { return sharing_table(found); },
                   [&](const comparison& about_it) {
                     auto out = compose_figures(about_it);
                     out["false_sharing"] = compose_sharing(found);
                     return out;
                   },
                   {}});
}

void add_sharing_options(CLI::App& app, chosen& c) {
  auto* planted = app.add_flag(
      "--false-sharing", c.false_sharing,
      "Instead of a server, measure two counters in one cache line and in two, and whether the difference shows");
  for (const char* of_servers : {"--workload", "--models", "--against"}) planted->excludes(app.get_option(of_servers));
  add_parsed(app, "--layout", c.layout, parse_layout, "Only adjacent or padded, for use under another tool")
      ->needs(planted);
  add_parsed(app, "--increments", c.increments, number_in<std::uint64_t>(100'000, 1'000'000'000),
             "Increments of each counter (default: 10000000; 2000000 with --quick)")
      ->needs(planted);
  add_parsed(app, "--cpus", c.cpus, parse_cpus, "CPUs of the two threads (default: the first two allowed)")
      ->needs(planted);
}

}  // namespace

void add_study(CLI::App& app) {
  auto* sub = app.add_subcommand(
      "study", "Shows what a server under load does to the machine: system calls, context switches, caches, locks");
  const auto s = std::make_shared<compare_settings>();
  const auto c = std::make_shared<chosen>();
  const auto same = [](const std::string& text) { return text; };
  sub->add_flag("--quick", s->quick, "One short round");
  add_parsed(*sub, "--workload", c->workload, one_workload, "A workload of compare (default: echo)");
  add_parsed(
      *sub, "--models", c->models, [](const std::string& t) { return parse_models(t), t; },
      "Comma-separated names or numbers, or all (default: 2,3,4,5)");
  add_parsed(*sub, "--against", c->against, same, "Compare with an earlier --json file");
  add_measuring_options(*sub, c->measuring, *s, default_runs, quick_runs);
  add_server_options(*sub, *s);
  add_sharing_options(*sub, *c);
  sub->footer(footer);
  sub->callback([s, c] {
    if (c->false_sharing) {
      if (const int status = run_false_sharing(*s, *c)) throw CLI::RuntimeError(status);
      return;
    }
    complete(*s, *c);
    if (const int status = run_command(*s, c->against)) throw CLI::RuntimeError(status);
  });
}

}  // namespace quintet::bench
