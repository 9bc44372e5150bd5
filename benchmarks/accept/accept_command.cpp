// SPDX-License-Identifier: BSL-1.0
// accept_command.cpp: `quintet-bench accept`: its options, then strategies, table and JSON.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "accept/accept_report.hpp"
#include "accept/http_servers.hpp"
#include "accept/measure_accept.hpp"
#include "command_line.hpp"
#include "commands.hpp"
#include "compare/conclusion.hpp"
#include "compare/measuring_options.hpp"
#include "compare/strace_counter.hpp"

namespace quintet::bench {
namespace {

constexpr auto* footer =
    "Examples:\n"
    "  quintet-bench accept --quick\n"
    "  quintet-bench accept --preset fastsocket --rounds 5 --json accept.json\n"
    "  quintet-bench accept --strategies reuse_port,exclusive --loops 8\n"
    "  quintet-bench accept --nginx --rounds 9      http_hello (see examples/) beside nginx, without keep-alive";

constexpr usual_runs default_runs{
    .rounds = 5, .duration = std::chrono::seconds(1), .warm_up = std::chrono::milliseconds(200)};
constexpr usual_runs quick_runs{
    .rounds = 3, .duration = std::chrono::milliseconds(300), .warm_up = std::chrono::milliseconds(100)};
constexpr unsigned fastsocket_connections = 500;  // for each CPU
constexpr std::size_t other_files = 100;          // open files of a server or client beside its connections

struct chosen {
  std::string preset = "short", strategies = "all", model = "loop_per_thread", closing = "fin";
  std::optional<unsigned> connections, loops;
  engine_kind engine = engine_kind::automatic;
  std::string http_hello;
  measuring_options measuring;
  bool nginx = false, no_peers = false, no_counters = false;
};

std::vector<accept_strategy> parse_strategies(const std::string& text) {
  if (text == "all") return {enumerators<accept_strategy>.begin(), enumerators<accept_strategy>.end()};
  std::vector<accept_strategy> out;
  for (const auto name : split(text)) {
    const auto next = parse_accept(name);
    if (std::find(out.begin(), out.end(), next) == out.end()) out.push_back(next);
  }
  return out;
}

std::string parse_model_with_loops(const std::string& text) {
  auto model = parse_one_model(text);
  if (!model.starts_with("loop_per_thread"))
    throw usage_error("in " + model +
                      " only the main loop accepts; the model must be loop_per_thread or loop_per_thread_pool");
  return model;
}

workload shape(const chosen& c) {
  auto work = require_workload("short");
  work.connections =
      c.preset == "fastsocket" ? fastsocket_connections * static_cast<unsigned>(allowed_cpus().size()) : 100;
  work.connections = c.connections.value_or(work.connections);
  require_files(fmt::format("{} connections", work.connections), work.connections + other_files);
  return work;
}

std::vector<contender> contenders(const chosen& c) {
  const auto cpus = allowed_cpus().size();
  std::vector<contender> out;
  for (const accept_strategy strategy : parse_strategies(c.strategies)) {
    if (strategy == accept_strategy::reuse_port_cpu && c.loops.value_or(1) > cpus) {
      fmt::print(stderr, "reuse_port_cpu is skipped: {} loops need a CPU each, and there are {}.\n", *c.loops, cpus);
      continue;
    }
    out.push_back(
        {.model = c.model, .engine = std::string(to_string(c.engine)), .accept = std::string(to_string(strategy))});
  }
  if (!c.no_peers) out.push_back({.peer = c.nginx ? "nginx" : "epoll"});
  return out;
}

compare_settings complete(const compare_settings& given, const chosen& c) {
  compare_settings s = given;
  s.workloads = {shape(c)};
  s.contenders = contenders(c);
  if (s.contenders.empty()) throw usage_error("--strategies: nothing is left to measure");
  s.loops = c.loops;
  s.engine = c.engine;
  s.shared_cpus = true;
  s.counters = !c.no_counters && !c.nginx;  // they observe a single process with all its threads
  complete_measuring(s, c.measuring, default_runs, quick_runs);
  if (s.counters && !strace_counter::obstacle().empty())
    fmt::print(stderr, "Wake-ups are not counted: {}.\n", strace_counter::obstacle());
  return s;
}

int run_command(const compare_settings& s, const chosen& c) {
  raise_file_limit();  // for servers that do not raise it themselves
  auto outcome = compare(s, c.nginx ? measure_http(http_programs::find(c.http_hello)) : measure_accept(c.closing));
  outcome.found.command = "accept";
  outcome.found.settings["preset"] = c.preset;
  outcome.found.settings["close"] = c.nginx ? "server" : c.closing;
  outcome.found.settings["http"] = c.nginx;
  return conclude(s, outcome, {accept_table, compose_accept, {}});
}

void add_options(CLI::App& app, compare_settings& s, chosen& c) {
  app.add_flag("--quick", s.quick, "Short runs");
  app.add_option(
         "--preset", c.preset,
         "short: 100 concurrent connections; fastsocket: 500 for each CPU, as its authors measured (default: short)")
      ->check(CLI::IsMember({"short", "fastsocket"}));
  add_parsed(
      app, "--strategies", c.strategies, [](const std::string& t) { return parse_strategies(t), t; },
      "Comma-separated: main_reactor, reuse_port, reuse_port_cpu, exclusive (default: all)");
  add_parsed(app, "--model", c.model, parse_model_with_loops,
             "loop_per_thread or loop_per_thread_pool (default: loop_per_thread)");
  add_parsed(app, "--loops", c.loops, number_in<unsigned>(1, 1024), "Event loops (default: one for each CPU)");
  add_parsed(app, "--engine", c.engine, parse_engine, "I/O engine: epoll, asio, uring (default: automatic)");
  add_parsed(app, "--connections", c.connections, number_in<unsigned>(1, 20'000),
             "Concurrent connections (default: by preset)");
  auto* close = app.add_option("--close", c.closing,
                               "How the client ends a connection: fin (from many 127.0.0.x) or reset (default: fin)")
                    ->check(CLI::IsMember({"fin", "reset"}));
  add_measuring_options(app, c.measuring, s, default_runs, quick_runs);
  add_within(app, c.measuring);
  app.add_flag("--nginx", c.nginx,
               "Compare the example http_hello with nginx: HTTP without keep-alive, as many workers")
      ->excludes(close);  // the server closes
  app.add_option("--http_hello", c.http_hello, "Path of the example http_hello (default: that of this build)")
      ->type_name("PATH");
  app.add_flag("--no-peers", c.no_peers, "Leave out the hand-written server, or nginx");
  app.add_flag("--no-counters", c.no_counters, "Do not count system calls and wake-ups");
}

}  // namespace

void add_accept(CLI::App& app) {
  auto* sub = app.add_subcommand("accept", "Compares accept strategies under short connections");
  const auto s = std::make_shared<compare_settings>();
  const auto c = std::make_shared<chosen>();
  add_options(*sub, *s, *c);
  sub->footer(footer);
  sub->callback([s, c] {
    if (const int status = run_command(complete(*s, *c), *c)) throw CLI::RuntimeError(status);
  });
}

}  // namespace quintet::bench
