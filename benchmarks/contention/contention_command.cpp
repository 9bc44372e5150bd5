// SPDX-License-Identifier: BSL-1.0
// contention_command.cpp: `quintet-bench contention`: its options, then thread counts, table and JSON.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "command_line.hpp"
#include "commands.hpp"
#include "compare/conclusion.hpp"
#include "compare/measuring_options.hpp"
#include "contention/contention_report.hpp"

namespace quintet::bench {
namespace {

constexpr auto* default_threads = "1,2,4,8,40";
constexpr auto* quick_threads = "2,40";
constexpr unsigned most_threads = 1024;

constexpr auto* footer =
    "An echo server of plain Boost.Asio: its threads share one io_context, or have one each. Server and client share\n"
    "all CPUs.\n"
    "Examples:\n"
    "  quintet-bench contention --json contention.json\n"
    "  quintet-bench contention --threads 2,40 --connections 1000 --rounds 9";

constexpr usual_runs default_runs{
    .rounds = 5, .duration = std::chrono::milliseconds(500), .warm_up = std::chrono::milliseconds(100)};
constexpr usual_runs quick_runs{
    .rounds = 3, .duration = std::chrono::milliseconds(200), .warm_up = std::chrono::milliseconds(100)};

struct chosen {
  std::vector<unsigned> threads;
  std::optional<unsigned> connections;
  measuring_options measuring;
};

std::vector<unsigned> parse_threads(std::string_view text) {
  std::vector<unsigned> out;
  for (const auto part : split(text)) {
    const auto count = static_cast<unsigned>(parse_number(part, 1, most_threads));
    if (std::find(out.begin(), out.end(), count) == out.end()) out.push_back(count);
  }
  return out;
}

void complete(compare_settings& s, const chosen& c) {
  s.shared_cpus = true;
  for (const unsigned threads :
       c.threads.empty() ? parse_threads(s.quick ? quick_threads : default_threads) : c.threads) {
    workload w = require_workload("echo");
    w.threads = threads;
    w.connections = c.connections.value_or(w.connections);
    s.workloads.push_back(std::move(w));
  }
  s.contenders = {{.peer = shared_peer}, {.peer = separate_peer}};
  complete_measuring(s, c.measuring, default_runs, quick_runs);
}

int run_command(const compare_settings& s) {
  auto outcome = compare(s);
  outcome.found.command = "contention";
  return conclude(s, outcome, {contention_table, compose_contention, {}});
}

}  // namespace

void add_contention(CLI::App& app) {
  auto* sub =
      app.add_subcommand("contention", "Compares threads that share one io_context with threads that have one each");
  const auto s = std::make_shared<compare_settings>();
  const auto c = std::make_shared<chosen>();
  sub->add_flag("--quick", s->quick, "2 and 40 threads, short runs");
  add_parsed(*sub, "--threads", c->threads, parse_threads,
             fmt::format("Comma-separated numbers of threads (default: {})", default_threads));
  add_parsed(*sub, "--connections", c->connections, number_in<unsigned>(1, 20'000),
             "Concurrent connections (default: 100)");
  add_measuring_options(*sub, c->measuring, *s, default_runs, quick_runs);
  add_within(*sub, c->measuring);
  sub->footer(footer);
  sub->callback([s, c] {
    complete(*s, *c);
    if (const int status = run_command(*s)) throw CLI::RuntimeError(status);
  });
}

}  // namespace quintet::bench
