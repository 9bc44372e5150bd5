// SPDX-License-Identifier: BSL-1.0
// peers_command.cpp: `quintet-bench peers`: its options, then contenders, table and JSON.
#include <quintet/net/engine/make_engine.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "command_line.hpp"
#include "commands.hpp"
#include "compare/conclusion.hpp"
#include "compare/measuring_options.hpp"
#include "compare/plan.hpp"
#include "peers/instructions.hpp"
#include "peers/peer_server.hpp"
#include "peers/peers_report.hpp"
#include "peers/redis_load.hpp"

namespace quintet::bench {
namespace {

constexpr auto* default_list = "echo,large,pipeline,latency";
constexpr auto* quick_list = "echo,large";
constexpr auto* counted_list = "echo,latency";  // 100 connections, and one

constexpr auto* footer =
    "Examples:\n"
    "  quintet-bench peers --json peers.json\n"
    "  quintet-bench peers --workload pipeline --peers asio,libuv --rounds 9\n"
    "  quintet-bench peers --count instructions\n"
    "  quintet-bench peers --workload kv        kv (see examples/) beside redis-server, under redis-benchmark";

constexpr usual_runs default_runs{
    .rounds = 5, .duration = std::chrono::milliseconds(500), .warm_up = std::chrono::milliseconds(100)};
constexpr usual_runs quick_runs{
    .rounds = 3, .duration = std::chrono::milliseconds(200), .warm_up = std::chrono::milliseconds(100)};

struct chosen {
  std::string workloads, peers, count, kv;
  std::string model = "single_reactor";
  std::optional<unsigned> connections;
  measuring_options measuring;
  bool no_counters = false;
};

struct job {
  compare_settings echoes, kv;
  bool count_instructions = false;
  std::optional<redis_programs> redis;
};

// Returns the named peers, or all with a single loop. If none is named, it prints a line for each that is not built in.
std::vector<contender> peers_of(const chosen& c) {
  std::vector<contender> out{{.peer = "epoll"}};
  const auto add = [&](const peer_kind& p) {
    const auto same = [&](const contender& other) { return other.peer == p.name; };
    if (std::find_if(out.begin(), out.end(), same) == out.end()) out.push_back({.peer = std::string(p.name)});
  };
  if (!c.peers.empty()) {
    for (const auto name : split(c.peers)) add(require_peer(name));
    return out;
  }
  for (const peer_kind& p : all_peers()) {
    if (!p.built_in())
      fmt::print(stderr, "{}\n", p.absence());
    else if (p.name != "blocking" && !p.make_threaded)
      add(p);
  }
  return out;
}

// Valgrind does not support io_uring, so instructions are counted for the other engines.
std::vector<contender> ours(const std::string& model, bool counted) {
  std::vector<contender> out;
  for (const engine_kind kind : built_engines()) {
    if (kind == engine_kind::automatic || (counted && kind == engine_kind::uring)) continue;
    if (const error_code why = refused_by_kernel(kind))
      fmt::print(stderr, "{}: the kernel refuses it: {}\n", to_string(kind), why.message());
    else
      out.push_back({.model = model, .engine = std::string(to_string(kind))});
  }
  out.push_back({.model = model, .engine = "epoll", .handler = "coroutine"});
  return out;
}

std::vector<workload> parse_echoes(std::string_view text) {
  auto out = parse_workloads(text);
  for (const workload& w : out) {
    if (w.kind != work_kind::echo) throw usage_error("the peers only echo; \"" + w.name + "\" does more");
  }
  return out;
}

void parse_peers_workloads(const std::string& text, std::vector<workload>& echoes, bool& kv) {
  std::string others;
  for (const auto part : split(text)) {
    if (part == "kv")
      kv = true;
    else
      others += std::string(part) + ',';
  }
  if (!others.empty()) echoes = parse_echoes(std::string_view(others).substr(0, others.size() - 1));
}

compare_settings common(const compare_settings& given, const chosen& c, bool counting) {
  compare_settings s = given;
  s.one_cpu = true;
  s.counters = !c.no_counters && !counting;
  complete_measuring(s, c.measuring, default_runs, quick_runs);
  if (counting) s.rounds = 1;
  return s;
}

job complete(const compare_settings& given, const chosen& c) {
  job out;
  out.count_instructions = !c.count.empty();
  out.echoes = out.kv = common(given, c, out.count_instructions);
  const auto* usual = out.count_instructions ? counted_list : given.quick ? quick_list : default_list;
  bool kv = false;
  parse_peers_workloads(c.workloads.empty() ? usual : c.workloads, out.echoes.workloads, kv);
  if (kv && out.count_instructions) throw usage_error("--count: instructions are counted of echoes only, not of kv");
  if (out.count_instructions) require_valgrind();  // report contradictions first, whatever is installed
  out.echoes.contenders = peers_of(c);
  const auto own = ours(c.model, out.count_instructions);
  out.echoes.contenders.insert(out.echoes.contenders.begin() + 1, own.begin(), own.end());
  if (kv) {
    out.redis = redis_programs::find(c.kv);
    out.kv.workloads = redis_workloads();
    out.kv.contenders = {{.peer = "redis"}, {.model = c.model}};
  }
  for (auto* all : {&out.echoes.workloads, &out.kv.workloads}) {
    for (workload& w : *all) w.connections = c.connections.value_or(w.connections);
  }
  return out;
}

comparison_outcome measure(const job& j) {
  comparison_outcome out;
  if (!j.echoes.workloads.empty())
    out = compare(j.echoes, j.count_instructions ? measure_function(measure_instructions) : measure_load);
  if (j.redis && !out.interrupted) {
    auto more = compare(j.kv, measure_redis_load(*j.redis));
    auto& results = more.found.results;
    results.insert(results.begin(), out.found.results.begin(), out.found.results.end());
    out = std::move(more);
  }
  out.found.command = "peers";
  return out;
}

int run_command(const job& j) { return conclude(j.echoes, measure(j), {peers_table, compose_peers, {}}); }

void add_options(CLI::App& app, compare_settings& s, chosen& c) {
  const auto same = [](const std::string& text) { return text; };
  app.add_flag("--quick", s.quick, "echo and large, with short runs: under a minute");
  add_parsed(
      app, "--workload,--workloads", c.workloads,
      [](const std::string& t) {
        std::vector<workload> ignored;
        bool kv = false;
        return parse_peers_workloads(t, ignored, kv), t;
      },
      fmt::format("Comma-separated (default: {})", default_list));
  add_parsed(
      app, "--peers", c.peers,
      [](const std::string& t) {
        for (const auto name : split(t)) require_peer(name);
        return t;
      },
      "Comma-separated names of peers (default: all with one thread); epoll, the reference, is always included");
  add_parsed(app, "--model", c.model, parse_one_model, "Model of Quintet's server (default: single_reactor)");
  app.add_option("--count", c.count,
                 "instructions: count user-space instructions of each server with callgrind, instead of time")
      ->check(CLI::IsMember({"instructions"}));
  add_parsed(app, "--connections", c.connections, number_in<unsigned>(1, 20'000),
             "Concurrent connections (default: by workload)");
  add_measuring_options(app, c.measuring, s, default_runs, quick_runs);
  app.add_flag("--no-counters", c.no_counters, "Do not count system calls");
  add_parsed(app, "--kv", c.kv, same, "Path of the example kv, for the workload kv (default: that of this build)");
}

std::string peer_list() {
  std::string out = "Peers:\n";
  for (const peer_kind& p : all_peers())
    out += fmt::format("  {:<17}{}{}\n", p.name, p.what, p.built_in() ? "" : " (not built in)");
  return out;
}

}  // namespace

void add_peers(CLI::App& app) {
  auto* sub = app.add_subcommand("peers", "Compares Quintet's echo server with other libraries' and hand-written ones");
  const auto s = std::make_shared<compare_settings>();
  const auto c = std::make_shared<chosen>();
  add_options(*sub, *s, *c);
  sub->footer(peer_list() + footer);
  sub->callback([s, c] {
    if (const int status = run_command(complete(*s, *c))) throw CLI::RuntimeError(status);
  });
}

}  // namespace quintet::bench
