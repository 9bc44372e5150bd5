// SPDX-License-Identifier: BSL-1.0
// allocators_command.cpp: `quintet-bench allocators`: its options, then allocators, table and JSON.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "allocators/allocators_report.hpp"
#include "allocators/kv_instructions.hpp"
#include "allocators/preload.hpp"
#include "command_line.hpp"
#include "commands.hpp"
#include "compare/conclusion.hpp"
#include "compare/measuring_options.hpp"
#include "peers/instructions.hpp"

namespace quintet::bench {
namespace {

constexpr auto* footer =
    "The example kv under redis-benchmark. kv: PING, which allocates nothing; kv-set: SET of 64 bytes, which the\n"
    "handler stores in allocated memory.\n"
    "Examples:\n"
    "  quintet-bench allocators --json allocators.json\n"
    "  quintet-bench allocators --models 4 --workload kv-set --shared-cpus --rounds 9\n"
    "  quintet-bench allocators --count instructions";

constexpr usual_runs default_runs{
    .rounds = 5, .duration = std::chrono::milliseconds(400), .warm_up = std::chrono::milliseconds(100)};
constexpr usual_runs quick_runs{
    .rounds = 3, .duration = std::chrono::milliseconds(200), .warm_up = std::chrono::milliseconds(50)};

struct chosen {
  std::vector<workload> workloads;
  std::string models = "all";
  std::vector<const allocator_kind*> allocators;
  std::string count, kv;
  std::optional<unsigned> connections;
  measuring_options measuring;
};

// Allocator name to the name of its library for the dynamic linker.
using library_map = std::map<std::string, std::string, std::less<>>;

struct job {
  compare_settings settings;
  redis_programs programs;
  library_map libraries;
  bool count_instructions = false;
};

std::vector<workload> usual_workloads() { return {redis_workloads().front(), redis_set_workload()}; }

std::vector<workload> parse_kv_workloads(const std::string& text) {
  std::vector<workload> out;
  for (const auto part : split(text)) {
    const auto all = usual_workloads();
    const auto found = std::find_if(all.begin(), all.end(), [&](const workload& w) { return w.name == part; });
    if (found == all.end())
      throw usage_error(fmt::format("\"{}\" is not a workload of this command; it must be one of: kv, kv-set", part));
    out.push_back(*found);
  }
  return out;
}

std::vector<const allocator_kind*> parse_allocators(const std::string& text) {
  std::vector<const allocator_kind*> out{&all_allocators().front()};
  for (const auto part : split(text)) {
    const auto* const next = &find_allocator(part);
    if (std::find(out.begin(), out.end(), next) == out.end()) out.push_back(next);
  }
  return out;
}

// Returns the named allocators, or all. If none is named, it prints a line for each missing one.
library_map find_libraries(const std::vector<const allocator_kind*>& named) {
  library_map out;
  for (const allocator_kind& k : all_allocators()) {
    if (!named.empty() && std::find(named.begin(), named.end(), &k) == named.end()) continue;
    if (auto library = find_library(k))
      out.emplace(k.name, *std::move(library));
    else if (!named.empty())
      throw usage_error(k.absence());
    else
      fmt::print(stderr, "{}\n", k.absence());
  }
  return out;
}

// Returns the models. With --count, drops those whose instruction counts do not repeat.
std::vector<std::string> models_of(const chosen& c) {
  constexpr auto* by_time = "loop_per_thread_pool";
  auto out = parse_models(c.models);
  if (c.count.empty() || std::erase(out, by_time) == 0) return out;
  const auto why =
      fmt::format("--count: the instruction counts of {} do not repeat, since offloading depends on time", by_time);
  if (out.empty()) throw usage_error(why);
  fmt::print(stderr, "{}; it is skipped.\n", why);
  return out;
}

job complete(const compare_settings& given, const chosen& c) {
  job out;
  out.count_instructions = !c.count.empty();
  if (out.count_instructions) require_valgrind();
  const auto models = models_of(c);  // report contradictions before missing programs
  out.programs = redis_programs::find_kv(c.kv);
  out.libraries = find_libraries(c.allocators);
  compare_settings& s = out.settings = given;
  s.counters = false;
  s.workloads = c.workloads.empty() ? usual_workloads() : c.workloads;
  for (workload& w : s.workloads) w.connections = out.count_instructions ? 1 : c.connections.value_or(w.connections);
  for (const auto& model : models) {
    for (const allocator_kind& k : all_allocators()) {
      if (out.libraries.contains(k.name)) s.contenders.push_back({.model = model, .allocator = std::string(k.name)});
    }
  }
  complete_measuring(s, c.measuring, default_runs, quick_runs);
  if (out.count_instructions) s.rounds = 1;
  return out;
}

server_care with_allocator(const library_map& libraries) {
  return {.prefix = [&libraries](const run_result& r) { return preloading(libraries.find(*r.allocator)->second); },
          .inspect = [](const run_result& r, pid_t server) { require_allocator(*r.allocator, server); }};
}

int run_command(const job& j) {
  const auto care = with_allocator(j.libraries);
  auto outcome = compare(j.settings, j.count_instructions ? measure_kv_instructions(j.programs, care)
                                                          : measure_redis_load(j.programs, care));
  outcome.found.command = "allocators";
  return conclude(j.settings, outcome, {allocators_table, compose_allocators, {}});
}

void add_options(CLI::App& app, compare_settings& s, chosen& c) {
  const auto same = [](const std::string& text) { return text; };
  app.add_flag("--quick", s.quick, "Short runs");
  add_parsed(app, "--workload,--workloads", c.workloads, parse_kv_workloads,
             "Comma-separated: kv, kv-set (default: both)");
  add_parsed(
      app, "--models", c.models, [](const std::string& t) { return parse_models(t), t; },
      "Comma-separated names or numbers (default: all five)");
  add_parsed(
      app, "--allocators", c.allocators, parse_allocators,
      "Comma-separated: tcmalloc, jemalloc, mimalloc (default: all that are installed); glibc, the reference, is "
      "always included");
  app.add_option("--count", c.count,
                 "instructions: count user-space instructions of each server with callgrind and one connection, "
                 "instead of time")
      ->check(CLI::IsMember({"instructions"}));
  add_parsed(app, "--connections", c.connections, number_in<unsigned>(1, 10'000),
             "Concurrent connections (default: 100)");
  add_parsed(app, "--loops", s.loops, number_in<unsigned>(1, 1024),
             "Loops of models 4 and 5 (default: the server's CPUs)");
  add_parsed(app, "--workers", s.workers, parse_range, "MIN..MAX workers of models 3 and 5 (default: 1..4)");
  app.add_flag("--shared-cpus", s.shared_cpus,
               "Let server and client share all CPUs, so that the server's threads run at the same time");
  add_measuring_options(app, c.measuring, s, default_runs, quick_runs);
  add_parsed(app, "--kv", c.kv, same, "Path of the example kv (default: that of this build)");
}

}  // namespace

void add_allocators(CLI::App& app) {
  auto* sub = app.add_subcommand("allocators", "Compares memory allocators, preloaded into the same server");
  const auto s = std::make_shared<compare_settings>();
  const auto c = std::make_shared<chosen>();
  add_options(*sub, *s, *c);
  sub->footer(footer);
  sub->callback([s, c] {
    if (const int status = run_command(complete(*s, *c))) throw CLI::RuntimeError(status);
  });
}

}  // namespace quintet::bench
