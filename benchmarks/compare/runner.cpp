// SPDX-License-Identifier: BSL-1.0
// runner.cpp: one run: a server process, a client process, and what was measured of both.
#include "compare/runner.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <filesystem>
#include <fstream>

#include "compare/child_process.hpp"
#include "compare/interruption.hpp"
#include "compare/server_sample.hpp"
#include "compare/syscall_counter.hpp"

namespace quintet::bench {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using arguments = std::vector<std::string>;
using clock = child_process::clock;

constexpr auto patience = 15s;  // beyond the time that something should take

class scratch_file {
 public:
  scratch_file() : path_(fs::temp_directory_path() / fmt::format("quintet-bench-{}.json", ::getpid())) {}
  ~scratch_file() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  scratch_file(const scratch_file&) = delete;
  scratch_file& operator=(const scratch_file&) = delete;
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

run_result describe(const compare_settings& s, const planned_run& run, const placement& where) {
  run_result out;
  out.workload = run.work->name;
  if (run.peer.empty()) {
    out.model = run.model;
    out.engine = "default";
    out.accept = "main";
    out.loops = s.loops.value_or(static_cast<unsigned>(where.server.size()));
    out.workers = fmt::format("{}..{}", s.workers.min, s.workers.max);
  } else {
    out.peer = run.peer;
  }
  out.round = run.round;
  out.connections = run.work->connections;
  out.message_bytes = static_cast<double>(run.work->message_bytes);
  out.pipeline = run.work->pipeline;
  out.server_cpus = cpu_text(where.server);
  out.client_cpus = cpu_text(where.client);
  return out;
}

arguments server_command(const compare_settings& s, const planned_run& run, const run_result& about) {
  arguments out{s.program, "serve", "--workload", about.workload, "--port", "0", "--pin", about.server_cpus};
  if (about.peer) {
    out.insert(out.end(), {"--reference", *about.peer});
  } else {
    out.insert(out.end(),
               {"--model", *about.model, "--loops", fmt::format("{:.0f}", *about.loops), "--workers", about.workers});
  }
  if (run.work->heartbeat) out.insert(out.end(), {"--priority-port", "0"});
  out.push_back("--exit-with-parent");
  return out;
}

arguments client_command(const compare_settings& s, const planned_run& run, const placement& where) {
  const bool apart = where.client != where.server;
  return {s.program,    "load",
          "--workload", run.work->name,
          "--pin",      cpu_text(where.client),
          "--threads",  std::to_string(apart ? where.client.size() : 1),
          "--duration", fmt::format("{:.3f}", measured_seconds(s, run)),
          "--warm-up",  fmt::format("{:.3f}", warm_up_seconds(s, run))};
}

boost::json::object read_object(const std::string& path) {
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  boost::system::error_code error;
  const auto value = boost::json::parse({text.data(), text.size()}, error);
  if (error || !value.is_object()) throw run_error("the client wrote no result");
  return value.get_object();
}

// What the client found goes over what was planned; the names stay ours.
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

// User-space and kernel pages only grow with connections where there are many; with few it would measure the program.
constexpr double enough_connections = 1000;

void measure(run_result& result, const compare_settings& s, const planned_run& run, const placement& where) {
  const scratch_file figures;
  child_process server("the server", server_command(s, run, result));
  const auto started = clock::now() + patience;
  const auto address = server.await_line("listening on ", started);
  auto command = client_command(s, run, where);
  command.insert(command.begin() + 2, address);
  if (run.work->heartbeat) {
    command.insert(command.end(), {"--heartbeat", server.await_line("priority on ", started)});
  }
  command.insert(command.end(), {"--json", figures.path()});
  std::optional<syscall_counter> counter;
  if (run.counting()) counter.emplace(server.pid());

  const auto idle = sample_server(server.pid());
  child_process client("the client", command);
  const auto expected =
      std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(expected_seconds(s, run)));
  const auto deadline = clock::now() + expected + patience;
  client.await_line("measuring", deadline);
  const auto before = sample_server(server.pid());
  const auto counted_before = counter ? counter->read() : syscall_counts{};
  client.await_line("measured", deadline);
  const auto after = sample_server(server.pid());
  const auto counted_after = counter ? counter->read() : syscall_counts{};
  while (client.read_line(deadline)) {
  }
  const int status = client.wait(deadline);
  if (server.poll_status()) throw run_error("the server " + server.ending());

  const auto found = fs::exists(figures.path()) ? read_object(figures.path()) : boost::json::object();
  take_client_figures(result, found);
  if (status != 0 && result.failed.value_or(0) == 0) throw run_error("the client " + client.ending());
  if (result.requests.value_or(0) <= 0) throw run_error("not one request was answered");
  const double window = window_seconds(found, result);
  fill_server_figures(result, before, after, window);
  if (*result.connections >= enough_connections && !run.work->short_connections) {
    result.bytes_per_connection = (after.rss_bytes - idle.rss_bytes) / *result.connections;
  }
  if (counter) {
    const double windows = window / (after.wall_s - before.wall_s) / *result.requests;
    result.syscalls_per_request = static_cast<double>(counted_after.all - counted_before.all) * windows;
    result.futex_per_request = static_cast<double>(counted_after.futex - counted_before.futex) * windows;
  }
}

}  // namespace

run_result perform(const compare_settings& s, const planned_run& run) {
  const auto where = place(*run.work, allowed_cpus());
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
