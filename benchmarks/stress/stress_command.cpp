// SPDX-License-Identifier: BSL-1.0
// stress_command.cpp: `quintet-bench stress`: its options, and the way from scenarios to lines, JSON and a status.
#include "command_line.hpp"
#include "commands.hpp"
#include "compare/environment.hpp"
#include "compare/interruption.hpp"
#include "compare/settings.hpp"
#include "output_file.hpp"
#include "report/document.hpp"
#include "stress/scenario.hpp"

#include <fmt/core.h>
#include <sys/prctl.h>
#include <boost/json/array.hpp>

#include <cstdio>
#include <filesystem>
#include <memory>

namespace quintet::bench {
namespace {

constexpr auto* footer =
    "Exit status: 0 when every demand is met, 1 when the server fails one.\n"
    "Examples:\n"
    "  quintet-bench stress resets --model 4 --peers 1000000\n"
    "  quintet-bench stress idle --model 4 --peers 100000 --loops 6 --accept reuse_port --own-descriptors\n"
    "  quintet-bench stress all --json stress.json";

struct chosen {
  std::string scenario, models;
};

std::chrono::nanoseconds parse_deadline(const std::string& text) {
  const auto value = positive_duration(text);
  using namespace std::chrono_literals;
  if (value > 1min)
    throw usage_error('"' + text + "\" is too long: a byte a second ends the message by then; at most 1min");
  return value;
}

void complete(stress_settings& s, const chosen& c) {
  if (c.scenario == "all")
    for (const scenario& one : scenarios) s.scenarios.emplace_back(one.name);
  else
    s.scenarios.emplace_back(require_scenario(c.scenario).name);
  for (const std::string& name : s.scenarios) {
    const scenario& one = require_scenario(name);
    require_descriptors(one, s, s.peers.value_or(one.default_peers));
  }
  s.models = parse_models(c.models.empty() ? "all" : c.models);
  for (const std::string& model : s.models)
    if (s.accept.value_or(accept_strategy::main_reactor) != accept_strategy::main_reactor &&
        !model.starts_with("loop_per_thread"))
      throw usage_error("--accept: " + model + " has no loops that accept; give --model 4, 5 or both");
  if (s.program.empty()) s.program = std::filesystem::read_symlink("/proc/self/exe").string();
}

class report {
 public:
  void add(const scenario& s, const std::string& model, const findings& found) {
    fmt::print("{}, {}: {}\n{}", s.name, model, found.passed() ? "passed" : "FAILED", found.text());
    std::fflush(stdout);
    auto one = found.json();
    one["scenario"] = s.name;
    one["model"] = model;
    results_.push_back(std::move(one));
    passed_ = passed_ && found.passed();
  }
  void write(const std::string& file, bool interrupted) const {
    if (file.empty()) return;
    const boost::json::object all{{"command", "stress"},
                                  {"environment", environment_.finish()},
                                  {"interrupted", interrupted},
                                  {"results", results_}};
    write_output(file, pretty(all) + '\n');
  }
  bool passed() const { return passed_; }

 private:
  environment environment_;
  boost::json::array results_;
  bool passed_ = true;
};

int run_all(const stress_settings& s) {
  raise_file_limit();
  ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);  // peers that are due are not to be 50 us late
  const interruption_guard guard;
  report all;
  try {
    for (const std::string& name : s.scenarios) {
      const scenario& one = require_scenario(name);
      fmt::print(stderr, "{}: {}, {} of them\n", one.name, one.help, s.peers.value_or(one.default_peers));
      for (const std::string& model : s.models) all.add(one, model, perform(one, s, model));
    }
  } catch (const interrupted&) {
    all.write(s.json_file, true);
    return 130;
  }
  all.write(s.json_file, false);
  return all.passed() ? 0 : 1;
}

std::string scenario_list() {
  std::string out = "Scenarios, and how many peers each has by default:\n";
  for (const scenario& s : scenarios) out += fmt::format("  {:<13}{} ({})\n", s.name, s.help, s.default_peers);
  return out;
}

void add_options(CLI::App& app, stress_settings& s, chosen& c) {
  const auto same = [](const std::string& text) { return text; };
  app.add_option("scenario", c.scenario, "One of those below, or all of them: all")->required()->type_name("NAME");
  add_parsed(
      app, "--model,--models", c.models, [](const std::string& t) { return parse_models(t), t; },
      "Comma-separated names or numbers (all five)");
  add_parsed(app, "--engine", s.engine, parse_engine, "What moves the server's bytes: epoll, asio, uring (automatic)")
      ->type_name("NAME");
  add_parsed(app, "--accept", s.accept, parse_accept,
             "Who accepts: main_reactor (unless given), reuse_port, reuse_port_cpu, exclusive")
      ->type_name("NAME");
  add_parsed(app, "--loops", s.loops, number_in<unsigned>(1, 1024), "Event loops of models 4 and 5 (one a CPU)")
      ->type_name("N");
  app.add_flag("--own-descriptors", s.own_descriptors,
               "Model 4, --accept reuse_port: ulimit -n holds for each loop; idle: and for a share of the peers");
  add_parsed(app, "--peers", s.peers, number_in<unsigned>(1, 100'000'000), "How many peers")->type_name("N");
  add_parsed(app, "--rounds", s.rounds, number_in<unsigned>(1, 1000),
             "How often the peers come and go; the good client is alone in between (3)")
      ->type_name("N");
  add_parsed(app, "--window", s.window, positive_duration,
             "How long the good client is measured each time (2; non-readers: 10)")
      ->type_name("S");
  add_parsed(app, "--deadline", s.deadline, parse_deadline, "slow-writers: the server's message_timeout (5)")
      ->type_name("S");
  add_parsed(app, "--memory", s.memory, number_in<std::size_t>(1 << 20),
             "non-readers: bytes of the server's memory group (512 MiB)")
      ->type_name("BYTES");
  add_parsed(app, "--within", s.within, positive_duration,
             "A run that takes longer has failed (a minute or so, more where there are more peers)")
      ->type_name("S");
  add_parsed(app, "--json", s.json_file, parse_output, "Write all figures to this file; -: to the standard output")
      ->type_name("FILE");
  add_parsed(app, "--program", s.program, same, "The quintet-bench that serves (this one)");
}

}  // namespace

void add_stress(CLI::App& app) {
  auto* sub = app.add_subcommand("stress", "A server beside hostile or very many peers: what becomes of the others");
  const auto s = std::make_shared<stress_settings>();
  const auto c = std::make_shared<chosen>();
  add_options(*sub, *s, *c);
  sub->footer(scenario_list() + footer);
  sub->callback([s, c] {
    complete(*s, *c);
    if (const int status = run_all(*s)) throw CLI::RuntimeError(status);
  });
}

}  // namespace quintet::bench
