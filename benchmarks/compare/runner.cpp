// SPDX-License-Identifier: BSL-1.0
// runner.cpp: one run: a server process, a client process, and the figures of both.
#include "compare/runner.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compare/child_process.hpp"
#include "compare/interruption.hpp"
#include "compare/scratch_file.hpp"
#include "compare/server_watch.hpp"

namespace quintet::bench {
namespace {

using namespace std::chrono_literals;
using arguments = std::vector<std::string>;
using clock = child_process::clock;

constexpr unsigned usual_threads = 4096;  // thread limit of model 1, unless a run needs more
constexpr auto patience = 15s;            // in addition to the expected time of a step

run_result describe(const compare_settings& s, const planned_run& run, const placement& where) {
  run_result out;
  out.workload = run.work->name;
  if (!run.who.is_peer()) {
    out.model = run.who.model;
    out.engine = run.who.engine;
    out.handler = run.who.handler;
    out.accept = run.who.accept;
    if (!run.who.allocator.empty()) out.allocator = run.who.allocator;
    const auto loops = s.loops.value_or(static_cast<unsigned>(where.server.size()));
    const auto workers = run.work->threads ? count_range{*run.work->threads, *run.work->threads} : s.workers;
    out.loops = run.work->threads.value_or(loops);
    out.workers = fmt::format("{}..{}", workers.min, workers.max);
    out.offload = std::string(to_string(s.offload));
  } else {
    out.peer = run.who.peer;
    if (run.work->threads) out.loops = *run.work->threads;
  }
  out.round = run.round;
  out.connections = run.work->connections;
  out.message_bytes = static_cast<double>(run.work->message_bytes);
  out.pipeline = run.work->pipeline;
  if (run.work->kind == work_kind::cpu || run.work->kind == work_kind::blocking || run.work->kind == work_kind::mixed)
    out.handler_us = static_cast<double>(run.work->cost.count());
  out.server_cpus = cpu_text(where.server);
  out.client_cpus = cpu_text(where.client);
  return out;
}

arguments client_command(const compare_settings& s, const planned_run& run, const placement& where) {
  const bool apart = where.client != where.server;
  return {s.program,       "load",
          "--workload",    run.work->name,
          "--connections", std::to_string(run.work->connections),
          "--size",        std::to_string(run.work->message_bytes),
          "--pipeline",    std::to_string(run.work->pipeline),
          "--pin",         cpu_text(where.client),
          "--threads",     std::to_string(apart ? where.client.size() : 1),
          "--duration",    fmt::format("{:.3f}", measured_seconds(s, run)),
          "--warm-up",     fmt::format("{:.3f}", warm_up_seconds(s, run))};
}

// Overwrites planned values by the client's figures, but keeps the workload's name.
void take_client_figures(run_result& into, const boost::json::object& from) {
  auto copy = from;
  copy["workload"] = into.workload;
  const auto theirs = result_from_json(copy);
  for (const auto& m : metrics) {
    if (theirs.*m.field) into.*m.field = theirs.*m.field;
  }
}

double window_seconds(const boost::json::object& from, const run_result& result) {
  const auto* start = from.if_contains("measured_from_ns");
  const auto* end = from.if_contains("measured_to_ns");
  if (start && end && start->is_number() && end->is_number()) {
    return (end->to_number<double>() - start->to_number<double>()) / 1e9;
  }
  return result.duration_s.value_or(0);
}

// Memory per connection is only meaningful with many connections; with few it would measure the program.
constexpr double enough_connections = 1000;

}  // namespace

arguments server_command(const compare_settings& s, const planned_run& run, const run_result& about) {
  arguments out{s.program, "serve", "--workload", about.workload,   "--size", std::to_string(run.work->message_bytes),
                "--port",  "0",     "--pin",      about.server_cpus};
  if (about.peer) {
    out.insert(out.end(), {"--peer", *about.peer});
    if (about.loops) out.insert(out.end(), {"--loops", fmt::format("{:.0f}", *about.loops)});
  } else {
    out.insert(
        out.end(),
        {"--model", *about.model, "--loops", fmt::format("{:.0f}", *about.loops), "--workers", about.workers,
         "--offload", *about.offload, "--engine", *about.engine, "--handler", *about.handler, "--max-threads",
         std::to_string(std::max(usual_threads, run.work->connections + 100)), "--accept", *about.accept, "--strict"});
  }
  if (run.work->heartbeat) out.insert(out.end(), {"--priority-port", "0"});
  out.push_back("--exit-with-parent");
  return out;
}

std::string await_listening(child_process& server, run_result& result) {
  const auto started = clock::now() + patience;
  if (!result.peer) result.engine = server.await_line("engine ", started);
  return server.await_line("listening on ", started);
}

void measure_load(run_result& result, const compare_settings& s, const planned_run& run, const placement& where) {
  server_observer no_observer;
  measure_load_observed(result, s, run, where, no_observer);
}

void measure_load_observed(run_result& result, const compare_settings& s, const planned_run& run,
                           const placement& where, server_observer& observer) {
  child_process server("the server", server_command(s, run, result));
  const auto address = await_listening(server, result);
  arguments more;
  if (run.work->heartbeat) more = {"--heartbeat", server.await_line("priority on ", clock::now() + patience)};
  load_server(result, s, run, where, server, address, more, observer);
}

void load_server(run_result& result, const compare_settings& s, const planned_run& run, const placement& where,
                 child_process& server, const std::string& address, const arguments& more) {
  server_observer no_observer;
  load_server(result, s, run, where, server, address, more, no_observer);
}

void load_server(run_result& result, const compare_settings& s, const planned_run& run, const placement& where,
                 child_process& server, const std::string& address, const arguments& more, server_observer& observer) {
  const scratch_file figures("json");
  auto command = client_command(s, run, where);
  command.insert(command.begin() + 2, address);
  command.insert(command.end(), {"--json", figures.path()});
  command.insert(command.end(), more.begin(), more.end());
  server_watch watch(server.pid(), run.counting());
  child_process client("the client", command);
  const auto expected =
      std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(expected_seconds(s, run)));
  const auto deadline = clock::now() + expected + patience;
  client.await_line("measuring", deadline);
  watch.begin();
  observer.begin(server.pid());
  client.await_line("measured", deadline);
  watch.end();
  observer.end();
  while (client.read_line(deadline)) {
  }
  const int status = client.wait(deadline);
  if (server.poll_status()) throw run_error("the server " + server.ending());

  const auto found = figures.text().empty() ? boost::json::object() : figures.figures("the client");
  take_client_figures(result, found);
  if (status != 0 && result.failed.value_or(0) == 0) throw run_error("the client " + client.ending());
  if (result.requests.value_or(0) <= 0) throw run_error("no request was answered");
  watch.fill(result, window_seconds(found, result));
  if (*result.connections >= enough_connections && !run.work->short_connections)
    result.bytes_per_connection = watch.grown_bytes() / *result.connections;
}

run_result perform(const compare_settings& s, const planned_run& run, const measure_function& measure) {
  const auto where = place(s, *run.work);
  auto result = describe(s, run, where);
  try {
    measure(result, s, run, where);
    return result;
  } catch (const interrupted&) {
    throw;
  } catch (const std::exception& e) {
    auto failed = describe(s, run, where);
    failed.error = e.what();
    return failed;
  }
}

}  // namespace quintet::bench
