// SPDX-License-Identifier: BSL-1.0
// stress_command.cpp: `quintet-bench stress`: its options, then scenarios, lines, JSON and exit status.
#include "command_line.hpp"
#include "commands.hpp"
#include "compare/environment.hpp"
#include "compare/interruption.hpp"
#include "compare/settings.hpp"
#include "output_file.hpp"
#include "report/document.hpp"
#include "stress/attack.hpp"
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
    "With --server no server is started: the attacks go to a running server of any kind. Meanwhile a well-behaved\n"
    "client sends 50 requests a second. The server passes an attack if it answers each of them within --bound, and\n"
    "answers a new client at most 5 s after the attack.\n"
    "Exit status: 0 if the server passes every test, 1 if it fails one, 130 after Ctrl-C.\n"
    "Examples:\n"
    "  quintet-bench stress resets --model 4 --peers 1000000\n"
    "  quintet-bench stress idle --model 4 --peers 100000 --loops 6 --accept reuse_port --own-descriptors\n"
    "  quintet-bench stress all --json stress.json\n"
    "  quintet-bench stress --server 127.0.0.1:6379 --protocol resp\n"
    "  quintet-bench stress non-readers --server 127.0.0.1:7007 --peers 200 --window 10";

struct chosen {
  std::string scenario, models;
  std::string protocol = "echo";
};

std::chrono::nanoseconds parse_deadline(const std::string& text) {
  const auto value = positive_duration(text);
  using namespace std::chrono_literals;
  if (value > 1min)
    throw usage_error(
        '"' + text +
        "\" is too long; it must be at most 1min, because one byte a second completes the message by then");
  return value;
}

void complete(stress_settings& s, const chosen& c) {
  if (c.scenario.empty()) throw usage_error("a scenario is required: its name, or all; or give --server HOST:PORT");
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
      throw usage_error("--accept: " + model + " has no loops that accept; --model must be 4, 5 or both");
  if (s.program.empty()) s.program = std::filesystem::read_symlink("/proc/self/exe").string();
}

class report {
 public:
  /// `against` is the model or the server.
  void add(std::string_view name, std::string_view what, const std::string& against, const findings& found) {
    fmt::print("{}, {}: {}\n{}", name, against, found.passed() ? "passed" : "FAILED", found.text());
    std::fflush(stdout);
    auto one = found.json();
    one["scenario"] = name;
    one[what] = against;
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
  ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);  // scheduled peers must not be 50 us late
  const interruption_guard guard;
  report all;
  try {
    for (const std::string& name : s.scenarios) {
      const scenario& one = require_scenario(name);
      fmt::print(stderr, "{}: {}, {} of them\n", one.name, one.help, s.peers.value_or(one.default_peers));
      for (const std::string& model : s.models) all.add(one.name, "model", model, perform(one, s, model));
    }
  } catch (const interrupted&) {
    all.write(s.json_file, true);
    return 130;
  }
  all.write(s.json_file, false);
  return all.passed() ? 0 : 1;
}

std::vector<const attack*> complete(attack_settings& a, const stress_settings& s, const chosen& c) {
  std::vector<const attack*> list;
  for (const attack& one : attacks)
    if (c.scenario.empty() || c.scenario == "all" || &require_attack(c.scenario) == &one) list.push_back(&one);
  a.target = require_target(a.server, a.allow_remote);
  a.speaks = parse_dialect(c.protocol);
  a.peers = s.peers;
  a.window = s.window.value_or(std::chrono::seconds(3));
  if (a.window < 2 * a.bound || a.window > std::chrono::minutes(1))
    throw usage_error("--window is out of range; with --server it must be from twice --bound to 1min");
  if (a.peers.value_or(1) > most_hostile_peers)
    throw usage_error(fmt::format("--peers is too large; with --server it must be at most {}", most_hostile_peers));
  for (const attack* one : list) {
    const unsigned peers = a.peers.value_or(one->default_peers);
    require_files(fmt::format("--peers: {} peers of {}", peers, one->name), std::size_t{peers} + 100);
  }
  return list;
}

int run_attacks(attack_settings a, const std::vector<const attack*>& list, const std::string& json_file) {
  raise_file_limit();
  const interruption_guard guard;
  a.check = [] {
    if (interruption_guard::happened()) throw interrupted();
  };
  report all;
  try {
    for (const attack* one : list) {
      fmt::print(stderr, "{}: {} peers {}\n", one->name, a.peers.value_or(one->default_peers), one->help);
      all.add(one->name, "server", a.server, perform(*one, a));
    }
  } catch (const interrupted&) {
    all.write(json_file, true);
    return 130;
  }
  all.write(json_file, false);
  return all.passed() ? 0 : 1;
}

std::string scenario_list() {
  std::string out = "Scenarios, and how many peers each has by default:\n";
  for (const scenario& s : scenarios) out += fmt::format("  {:<13}{} ({})\n", s.name, s.help, s.default_peers);
  out += "Attacks on --server, and how many peers each has by default (default: all attacks):\n";
  for (const attack& a : attacks) out += fmt::format("  {:<13}peers that {} ({})\n", a.name, a.help, a.default_peers);
  return out;
}

void add_server_options(CLI::App& app, attack_settings& a, chosen& c) {
  const auto same = [](const std::string& text) { return text; };
  const auto bound = [](const std::string& text) {
    return std::chrono::ceil<std::chrono::milliseconds>(positive_duration(text));
  };
  auto* server = add_parsed(app, "--server", a.server, same, "Attack this running server instead of starting one");
  server->type_name("HOST:PORT");
  for (const char* ours : {"--model", "--engine", "--accept", "--loops", "--own-descriptors", "--rounds", "--deadline",
                           "--memory", "--within", "--program"})
    server->excludes(app.get_option(ours));
  const auto of_server = [&](CLI::Option* option) { return option->needs(server); };
  of_server(add_parsed(
                app, "--protocol", c.protocol, [](const std::string& t) { return parse_dialect(t), t; },
                "Protocol of the server: echo (the same bytes come back), resp (Redis), http (GET /) (default: echo)"))
      ->type_name("NAME");
  of_server(add_parsed(app, "--bound", a.bound, bound, "Longest time that a reply may take (1)"))->type_name("S");
  of_server(app.add_flag("--allow-remote", a.allow_remote, "Allow a server that is not on the loopback interface"));
}

void add_options(CLI::App& app, stress_settings& s, chosen& c) {
  const auto same = [](const std::string& text) { return text; };
  app.add_option("scenario", c.scenario, "One of those below, or all")->type_name("NAME");
  add_parsed(
      app, "--model,--models", c.models, [](const std::string& t) { return parse_models(t), t; },
      "Comma-separated names or numbers (all five)");
  add_parsed(app, "--engine", s.engine, parse_engine,
             "I/O engine of the server: epoll, asio, uring (default: automatic)")
      ->type_name("NAME");
  add_parsed(app, "--accept", s.accept, parse_accept,
             "Accept strategy: main_reactor (default), reuse_port, reuse_port_cpu, exclusive")
      ->type_name("NAME");
  add_parsed(app, "--loops", s.loops, number_in<unsigned>(1, 1024),
             "Event loops of models 4 and 5 (default: one for each CPU)")
      ->type_name("N");
  app.add_flag("--own-descriptors", s.own_descriptors,
               "Give each loop its own descriptor table (model 4 with --accept reuse_port)");
  add_parsed(app, "--peers", s.peers, number_in<unsigned>(1, 100'000'000), "Number of peers (default: by scenario)")
      ->type_name("N");
  add_parsed(app, "--rounds", s.rounds, number_in<unsigned>(1, 1000),
             "How often the peers connect and leave; the good client is alone in between (3)")
      ->type_name("N");
  add_parsed(
      app, "--window", s.window, positive_duration,
      "How long the good client is measured each time (2; non-readers: 10); with --server: length of an attack (3)")
      ->type_name("S");
  add_parsed(app, "--deadline", s.deadline, parse_deadline, "slow-writers: the server's message_timeout (5)")
      ->type_name("S");
  add_parsed(app, "--memory", s.memory, number_in<std::size_t>(1 << 20),
             "non-readers: bytes of the server's memory group (512 MiB)")
      ->type_name("BYTES");
  add_parsed(app, "--within", s.within, positive_duration,
             "Time limit of a run, which fails if it takes longer (default: about a minute, more for more peers)")
      ->type_name("S");
  add_parsed(app, "--json", s.json_file, parse_output, "Write all figures to this file; -: to the standard output")
      ->type_name("FILE");
  add_parsed(app, "--program", s.program, same, "Path of the quintet-bench that serves (default: this one)");
}

}  // namespace

void add_stress(CLI::App& app) {
  auto* sub =
      app.add_subcommand("stress", "Tests whether a server still serves others under hostile or very many peers");
  const auto s = std::make_shared<stress_settings>();
  const auto c = std::make_shared<chosen>();
  const auto a = std::make_shared<attack_settings>();
  add_options(*sub, *s, *c);
  add_server_options(*sub, *a, *c);
  sub->footer(scenario_list() + footer);
  sub->callback([s, c, a] {
    const bool attacks_one = !a->server.empty();
    if (!attacks_one) complete(*s, *c);
    if (const int status = attacks_one ? run_attacks(*a, complete(*a, *s, *c), s->json_file) : run_all(*s))
      throw CLI::RuntimeError(status);
  });
}

}  // namespace quintet::bench
