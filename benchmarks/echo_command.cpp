// SPDX-License-Identifier: BSL-1.0
// echo_command.cpp: `quintet-bench echo`: a server and the threads of its clients in one process; clients end first.
#include "command_line.hpp"
#include "commands.hpp"
#include "load/interval_lines.hpp"
#include "load/report.hpp"
#include "load/run.hpp"
#include "load/stop_signals.hpp"
#include "output_file.hpp"
#include "serve/handler.hpp"

#include <quintet/base/error.hpp>
#include <quintet/threadmodels/server.hpp>

#include <fmt/core.h>
#include <boost/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <future>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>

namespace quintet::bench {
namespace {

namespace fs = std::filesystem;

struct echo_options {
  quintet::model model = quintet::model::loop_per_thread;
  load_settings load = {.work = require_workload("timestamp"), .warm_up = {}};  // without warm-up every request counts
  std::optional<std::chrono::nanoseconds> duration;
  bool quick = false;
  std::string json;
};

struct echo_result {
  load_result load;
  std::uint64_t connections_left = 0;   ///< of the server, after its end
  std::ptrdiff_t descriptors_left = 0;  ///< of the process: more than before the server began
  bool is_released() const { return connections_left == 0 && descriptors_left == 0; }
};

/// Returns the number of open descriptors. The directory's own one is among them.
std::ptrdiff_t open_descriptors() {
  return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
}

load_settings settings_of(const echo_options& o) {
  load_settings s = o.load;
  s.duration = o.duration.value_or(o.quick ? std::chrono::seconds(1) : std::chrono::seconds(5));
  if (s.duration.count() == 0) throw usage_error("--duration is 0; it must be more than 0");
  return s;
}

config config_of(const echo_options& o) {
  config c{.listen = {{"127.0.0.1:0"}}, .model = o.model};
  c.threads.max_threads = std::max<std::size_t>(c.threads.max_threads, o.load.work.connections + 100);
  return c;
}

/// Starts the server, then the clients. Ends the clients, then the server, also after an exception.
void serve_and_load(const echo_options& o, load_settings s, const load_observer& watch, echo_result& out) {
  const service shared(s.work);
  server srv(config_of(o), handler_factory([&shared] { return bench_handler(shared); }));
  s.target = {"127.0.0.1", srv.port()};
  std::packaged_task<void()> serve([&srv] { srv.run(); });
  auto served = serve.get_future();
  {
    const std::jthread thread([&](const std::stop_token& end) {
      const std::stop_callback stop(end, [&srv] { srv.stop(); });
      serve();
    });
    out.load = run_load(s, watch);
  }
  served.get();
  const auto counted = srv.statistics();
  out.connections_left = counted.opened - counted.closed;
}

boost::json::object to_json(const echo_options& o, const load_settings& s, const echo_result& r) {
  // The other figures of a load would be those of client and server together.
  constexpr auto keys =
      std::to_array<const char*>({"workload", "connections", "client_threads", "requests", "failed", "first_failure",
                                  "duration_s", "requests_per_s", "net_bytes_per_request", "net_packets_per_request",
                                  "p50_us", "p99_us", "max_us", "interrupted"});
  const auto all = to_json(s, r.load);
  boost::json::object out{{"command", "echo"}, {"model", to_string(o.model)}};
  for (const char* key : keys) out[key] = all.at(key);
  out["connections_left"] = r.connections_left;
  out["descriptors_left"] = r.descriptors_left;
  return out;
}

std::string to_text(const echo_result& r) {
  const load_result& l = r.load;
  std::string text = fmt::format("all: {}\n", outcome_text(l.requests, l.failed));
  if (l.failed != 0) text += fmt::format("first failure: {}\n", l.first_failure);
  return text + fmt::format("left open: {} connections of the server, {} descriptors\n", r.connections_left,
                            r.descriptors_left);
}

int run_command(const echo_options& o) {
  const load_settings s = settings_of(o);
  raise_file_limit();
  stop_signals signals;
  interval_lines lines;
  load_observer watch;
  watch.progress = [&](const load_progress& p) { lines.show(p); };
  watch.stop_fd = signals.fd();
  fmt::print(stderr, "{}; server in the same process: {}\n", describe(s), to_string(o.model));
  echo_result r;
  const auto before = open_descriptors();
  try {
    serve_and_load(o, s, watch, r);
  } catch (const config_error& e) {
    throw usage_error(e.what());
  }
  r.descriptors_left = open_descriptors() - before;
  lines.finish(r.load);
  fmt::print(stderr, "{}", to_text(r));
  if (!o.json.empty()) write_output(o.json, boost::json::serialize(to_json(o, s, r)) + '\n');
  if (r.load.interrupted) return 128 + signals.take();
  return r.load.failed == 0 && r.is_released() ? 0 : 1;
}

}  // namespace

void add_echo(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("echo", "Runs a server and its clients in one process, checks every reply.");
  sub->footer("Example: quintet-bench echo --model single_reactor --connections 1000 --duration 30");
  auto options = std::make_shared<echo_options>();
  add_parsed(*sub, "--model NAME", options->model, parse_model,
             "thread_per_connection, single_reactor, reactor_pool, loop_per_thread (default), loop_per_thread_pool; or "
             "1 to 5");
  add_parsed(*sub, "--connections N", options->load.work.connections, number_in<unsigned>(1, 1'000'000),
             "concurrent connections (100)");
  add_parsed(*sub, "--client-threads N", options->load.threads, number_in<unsigned>(1, 1024),
             "threads of the clients, each with its own epoll set (1)");
  add_parsed(*sub, "--duration S", options->duration, parse_duration, "time until the clients end, in seconds (5)");
  sub->add_flag("--quick", options->quick, "one second");
  add_parsed(*sub, "--json FILE", options->json, parse_output,
             "write the result to this file; -: as the last line of the standard output");
  sub->callback([options] {
    if (const int status = run_command(*options); status != 0) throw CLI::RuntimeError(status);
  });
}

}  // namespace quintet::bench
