// SPDX-License-Identifier: BSL-1.0
// redis_load.cpp: starting redis-server, kv and redis-benchmark, and reading what they say.
#include "peers/redis_load.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <sstream>

#include "compare/child_process.hpp"
#include "compare/server_watch.hpp"
#include "peers/foreign_program.hpp"

namespace quintet::bench {
namespace {

using namespace std::chrono_literals;
using arguments = std::vector<std::string>;
using clock = child_process::clock;

arguments server_command(const redis_programs& programs, const run_result& about, const std::string& port) {
  if (about.peer) {
    return {programs.server, "--port", port,          "--bind", "127.0.0.1", "--save", "",
            "--appendonly",  "no",     "--daemonize", "no",     "--logfile", ""};
  }
  return {programs.kv, "--port", port, "--model", *about.model, "--loops", "1"};
}

void await_ready(child_process& server, bool is_redis, const std::string& port) {
  const auto deadline = clock::now() + 15s;
  const auto sign = is_redis ? std::string("Ready to accept connections") : ":" + port;
  while (const auto line = server.read_line(deadline)) {
    if (line->find(sign) != line->npos) return;
  }
  server.wait(deadline);
  throw run_error("the server " + server.ending());
}

// About as many requests as fill the time: what these servers reach on one core of a usual machine.
std::uint64_t requests_for(double seconds, double in_flight) {
  const double per_s = in_flight > 1 ? 700'000 : 90'000;
  return std::max<std::uint64_t>(5'000, static_cast<std::uint64_t>(seconds * per_s));
}

double seconds_of_children() {
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// Returns what it printed.
std::string run_benchmark(const redis_programs& programs, const run_result& about, const std::string& port,
                          std::uint64_t requests) {
  child_process client(
      "redis-benchmark",
      pinned(about.client_cpus, {programs.benchmark, "-h", "127.0.0.1", "-p", port, "-t", "ping_mbulk", "-c",
                                 fmt::format("{:.0f}", *about.connections), "-P",
                                 fmt::format("{:.0f}", *about.pipeline), "-n", std::to_string(requests), "--csv"}));
  const auto deadline = clock::now() + 60s + std::chrono::seconds(requests / 10'000);
  std::string text;
  while (const auto line = client.read_line(deadline)) text += *line + '\n';
  if (client.wait(deadline) != 0) throw run_error("redis-benchmark " + client.ending());
  return text;
}

void measure(const redis_programs& programs, run_result& result, const compare_settings& s, const planned_run& run) {
  const auto port = free_port();
  child_process server("the server", pinned(result.server_cpus, server_command(programs, result, port)));
  await_ready(server, run.who.is_peer(), port);
  server_watch watch(server.pid(), run.counting());
  run_benchmark(programs, result, port, requests_for(warm_up_seconds(s, run), *result.pipeline));
  const auto requests = requests_for(measured_seconds(s, run), *result.pipeline);
  const double children_before = seconds_of_children();
  watch.begin();
  const auto printed = run_benchmark(programs, result, port, requests);
  watch.end();
  const double client_s = seconds_of_children() - children_before;
  if (server.poll_status()) throw run_error("the server " + server.ending());
  take_redis_figures(result, printed);
  result.requests = static_cast<double>(requests);
  result.failed = 0;  // redis-benchmark ends with an error otherwise
  result.duration_s = *result.requests / *result.requests_per_s;
  result.client_cpu_us_per_request = client_s * 1e6 / *result.requests;
  result.client_cpu_fraction = std::min(1.0, client_s / *result.duration_s);
  watch.fill(result, watch.seconds());
}

std::vector<std::string> cells(std::string line) {
  std::erase(line, '"');
  std::vector<std::string> out;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) out.push_back(cell);
  return out;
}

}  // namespace

redis_programs redis_programs::find(const std::string& kv) {
  const auto server = find_program("redis-server"), benchmark = find_program("redis-benchmark");
  if (!server || !benchmark)
    throw usage_error(std::string("kv: ") + (server ? "redis-benchmark" : "redis-server") +
                      " is not installed; apt-get install " + (server ? "redis-tools" : "redis-server"));
  return {*server, *benchmark, example_program("kv", kv)};
}

std::vector<workload> redis_workloads() {
  constexpr std::string_view ping = "*1\r\n$4\r\nPING\r\n";
  workload one, many;
  one.name = "kv";
  one.message_bytes = many.message_bytes = ping.size();
  many.name = "kv-pipeline";
  many.pipeline = 16;
  return {one, many};
}

void take_redis_figures(run_result& into, std::string_view csv) {
  std::istringstream lines{std::string(csv)};
  std::vector<std::string> names;
  for (std::string line; std::getline(lines, line);) {
    const auto values = cells(line);
    if (values.size() < 2) continue;
    if (values[0] == "test") {
      names = values;
    } else if (values.size() == names.size() && values[0].starts_with("PING")) {
      const auto value = [&](std::string_view name) -> measurement {
        const auto at = std::find(names.begin(), names.end(), name);
        if (at == names.end()) return std::nullopt;
        return std::strtod(values[static_cast<std::size_t>(at - names.begin())].c_str(), nullptr);
      };
      const auto us = [&](std::string_view name) -> measurement {
        const auto ms = value(name);
        return ms ? measurement(*ms * 1e3) : std::nullopt;
      };
      into.requests_per_s = value("rps");
      into.p50_us = us("p50_latency_ms");
      into.p99_us = us("p99_latency_ms");
      into.max_us = us("max_latency_ms");
    }
  }
  if (into.requests_per_s.value_or(0) <= 0) throw run_error("redis-benchmark printed no figures");
}

measure_function measure_redis_load(redis_programs programs) {
  return [programs = std::move(programs)](run_result& result, const compare_settings& s, const planned_run& run,
                                          const placement&) { measure(programs, result, s, run); };
}

}  // namespace quintet::bench
