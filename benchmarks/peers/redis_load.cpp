// SPDX-License-Identifier: BSL-1.0
// redis_load.cpp: starts redis-server, kv and redis-benchmark, and parses their output.
#include "peers/redis_load.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <sstream>

#include "compare/child_process.hpp"
#include "compare/server_watch.hpp"
#include "peers/foreign_program.hpp"

namespace quintet::bench {
namespace {

using namespace std::chrono_literals;
using arguments = std::vector<std::string>;
using clock = child_process::clock;

constexpr auto* set_workload = "kv-set";
constexpr unsigned keys = 1000;
constexpr std::size_t value_bytes = 64;

arguments server_command(const redis_programs& programs, const run_result& about, const std::string& port) {
  if (about.peer) {
    return {programs.server, "--port", port,          "--bind", "127.0.0.1", "--save", "",
            "--appendonly",  "no",     "--daemonize", "no",     "--logfile", ""};
  }
  return {programs.kv, "--port",     port, "--model", *about.model, "--loops", fmt::format("{:.0f}", *about.loops),
          "--workers", about.workers};
}

arguments test_options(const run_result& about) {
  if (about.workload == set_workload)
    return {"-t", "set", "-r", std::to_string(keys), "-d", std::to_string(value_bytes)};
  return {"-t", "ping_mbulk"};
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

// Estimates the requests that fill the time, from the throughput of these servers on one core of a typical machine.
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

// Returns the output of redis-benchmark.
std::string run_benchmark(const redis_programs& programs, const run_result& about, const std::string& port,
                          std::uint64_t requests) {
  arguments command{programs.benchmark,
                    "-h",
                    "127.0.0.1",
                    "-p",
                    port,
                    "-c",
                    fmt::format("{:.0f}", *about.connections),
                    "-P",
                    fmt::format("{:.0f}", *about.pipeline),
                    "-n",
                    std::to_string(requests),
                    "--csv"};
  const auto test = test_options(about);
  command.insert(command.end(), test.begin(), test.end());
  child_process client("redis-benchmark", pinned(about.client_cpus, command));
  const auto deadline = clock::now() + 60s + std::chrono::seconds(requests / 10'000);
  std::string text;
  while (const auto line = client.read_line(deadline)) text += *line + '\n';
  if (client.wait(deadline) != 0) throw run_error("redis-benchmark " + client.ending());
  return text;
}

// A server that is ready once constructed.
class running_server {
 public:
  running_server(const redis_programs& programs, const run_result& about, const server_care& care)
      : port_(free_port()), process_("the server", pinned(about.server_cpus, command(programs, about, care))) {
    await_ready(process_, about.peer.has_value(), port_);
    if (care.inspect) care.inspect(about, process_.pid());
  }
  [[nodiscard]] const std::string& port() const { return port_; }
  child_process& process() { return process_; }

 private:
  [[nodiscard]] arguments command(const redis_programs& programs, const run_result& about,
                                  const server_care& care) const {
    arguments out = care.prefix ? care.prefix(about) : arguments();
    const auto own = server_command(programs, about, port_);
    out.insert(out.end(), own.begin(), own.end());
    return out;
  }

  std::string port_;
  child_process process_;
};

void measure(const redis_programs& programs, const server_care& care, run_result& result, const compare_settings& s,
             const planned_run& run) {
  running_server running(programs, result, care);
  child_process& server = running.process();
  const std::string& port = running.port();
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
  result.failed = 0;  // redis-benchmark fails otherwise
  result.duration_s = *result.requests / *result.requests_per_s;
  result.client_cpu_us_per_request = client_s * 1e6 / *result.requests;
  result.client_cpu_fraction = std::min(1.0, client_s / *result.duration_s);
  watch.fill(result, watch.seconds());
}

std::string require_program(const std::string& name, std::string_view package) {
  if (const auto found = find_program(name)) return *found;
  throw usage_error(fmt::format("kv: {} is not installed; apt-get install {}", name, package));
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
  auto server = require_program("redis-server", "redis-server");
  auto out = find_kv(kv);
  out.server = std::move(server);
  return out;
}

redis_programs redis_programs::find_kv(const std::string& kv) {
  return {"", require_program("redis-benchmark", "redis-tools"), example_program("kv", kv)};
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

workload redis_set_workload() {
  workload set;
  set.name = set_workload;
  const auto bulk = [](std::size_t bytes) { return fmt::format("${}\r\n", bytes).size() + bytes + 2; };
  set.message_bytes = std::string_view("*3\r\n").size() + bulk(3) + bulk(16) + bulk(value_bytes);  // a key has 16
  return set;
}

void take_redis_figures(run_result& into, std::string_view csv) {
  std::istringstream lines{std::string(csv)};
  std::vector<std::string> names;
  for (std::string line; std::getline(lines, line);) {
    const auto values = cells(line);
    if (values.size() < 2) continue;
    if (values[0] == "test") {
      names = values;
    } else if (values.size() == names.size() && (values[0].starts_with("PING") || values[0] == "SET")) {
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

measure_function measure_redis_load(redis_programs programs, server_care care) {
  return [programs = std::move(programs), care = std::move(care)](run_result& result, const compare_settings& s,
                                                                  const planned_run& run, const placement&) {
    measure(programs, care, result, s, run);
  };
}

void run_redis_requests(const redis_programs& programs, const run_result& about, const server_care& care,
                        std::uint64_t requests) {
  running_server server(programs, about, care);
  run_benchmark(programs, about, server.port(), requests);
  ::kill(server.process().pid(), SIGTERM);
  if (server.process().wait(clock::now() + 60s) != 0) throw run_error("the server " + server.process().ending());
}

}  // namespace quintet::bench
