// SPDX-License-Identifier: BSL-1.0
// load_command.cpp: `quintet-bench load`: options, progress, signals and output.
#include "command_line.hpp"
#include "commands.hpp"
#include "load/connect.hpp"
#include "load/interval_lines.hpp"
#include "load/report.hpp"
#include "load/run.hpp"
#include "load/stop_signals.hpp"
#include "output_file.hpp"

#include <fmt/core.h>
#include <unistd.h>
#include <boost/json.hpp>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

namespace quintet::bench {
namespace {

struct load_options {
  std::optional<std::chrono::nanoseconds> duration;
  std::optional<std::chrono::nanoseconds> warm_up;
  std::string client = "epoll";
  std::string closing;
  std::optional<std::chrono::nanoseconds> every;
  bool quick = false;
  bool distribution = false;
  unsigned rounds = 1;
  std::string json;
  load_settings settings;
};

/// Switches to the client over shared memory, and refuses what it cannot do.
void use_shared_memory(load_settings& s) {
  if (s.client == client_kind::blocking)
    throw usage_error("--client blocking: shared memory has a client of its own; leave --client out");
  if (s.work.short_connections) throw usage_error("shm:PATH has no short connections; use unix:PATH");
  if (s.rate > 0) throw usage_error("--rate: the client over shared memory has no schedule; use unix:PATH");
  s.client = client_kind::shared_memory;
}

load_settings resolve_settings(const load_options& o) {
  load_settings s = o.settings;
  if (s.target.host.empty() && s.target.path.empty())
    throw usage_error("the server's HOST:PORT, unix:PATH or shm:PATH is missing");
  s.work.short_connections |= s.http;
  s.duration = o.duration.value_or(o.quick ? std::chrono::seconds(1) : std::chrono::seconds(5));
  s.warm_up = o.warm_up.value_or(o.quick ? std::chrono::milliseconds(200) : std::chrono::seconds(1));
  if (s.duration.count() == 0) throw usage_error("--duration is 0; it must be more than 0");
  s.client = o.client == "blocking" ? client_kind::blocking : client_kind::epoll;
  if (s.target.shared_memory) use_shared_memory(s);
  s.close_by_reset = o.closing.empty() ? !is_loopback_v4(resolve(s.target)) : o.closing == "reset";
  if (s.work.short_connections && s.work.pipeline != 1)
    throw usage_error("--pipeline: short connections send one request each; it must be 1");
  if (s.client == client_kind::blocking && s.work.connections > 4000)
    throw usage_error("--client blocking has a thread for each connection; --connections must be at most 4000");
  if (s.client == client_kind::blocking && s.spin.count() != 0)
    throw usage_error(
        "--spin: the blocking client waits in receive calls; --spin and --client blocking exclude each other");
  require_possible(s.work);
  if (s.heartbeat && s.work.kind == work_kind::timestamp)
    throw usage_error("--heartbeat: a heartbeat must come back unchanged, and the workload timestamp adds one");
  if (s.work.heartbeat && !s.heartbeat)
    throw usage_error("--workload heartbeat needs --heartbeat HOST:PORT; without a heartbeat the same load is mixed");
  if (o.every && *o.every < std::chrono::milliseconds(100))
    throw usage_error("--every is too small; it must be at least 100ms");
  if (s.server && ::kill(*s.server, 0) != 0 && errno == ESRCH)
    throw usage_error(fmt::format("--server-pid: there is no process {}", *s.server));
  if (s.count_calls && !s.server) throw usage_error("--server-calls needs --server-pid");
  if (s.count_calls && !call_counter::obstacle().empty())
    throw usage_error("--server-calls: " + call_counter::obstacle());
  if (s.http && s.client == client_kind::blocking) throw usage_error("--http works only with --client epoll");
  return s;
}

void show_progress(const load_progress& p) {
  const char* what = p.warming ? "warming up" : "measuring";
  const double rate = p.warming || p.seconds <= 0 ? 0 : static_cast<double>(p.requests) / p.seconds;
  std::string numbers = fmt::format("{:.1f}/{:.1f} s", p.seconds, p.of_seconds);
  if (!p.warming)
    numbers += fmt::format("  {} requests/s  {}", with_commas(static_cast<std::uint64_t>(rate)),
                           outcome_text(p.requests, p.failed));
  if (::isatty(STDERR_FILENO) == 0) return fmt::print(stderr, "{} {}\n", what, numbers);
  constexpr int width = 24;
  const int done = static_cast<int>(width * std::min(1.0, p.seconds / p.of_seconds));
  fmt::print(stderr, "\r{:<10} [{:=<{}}{: <{}}] {}\033[K", what, "", done, "", width - done, numbers);
}

void clear_progress() {
  if (::isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\033[K");
}

void say(const char* word) {
  fmt::print("{}\n", word);
  std::fflush(stdout);
}

load_result run_once(const load_options& o, const load_settings& s, int stop_fd) {
  load_observer watch;
  interval_lines lines;
  watch.measuring = [] {
    clear_progress();
    say("measuring");
  };
  watch.measured = [] {
    clear_progress();
    say("measured");
  };
  watch.progress = show_progress;
  watch.progress_interval = std::chrono::milliseconds(::isatty(STDERR_FILENO) != 0 ? 200 : 1000);
  if (o.every) {
    watch.progress = [&](const load_progress& p) { lines.show(p); };
    watch.progress_interval = std::chrono::duration_cast<std::chrono::milliseconds>(*o.every);
  }
  watch.stop_fd = stop_fd;
  const load_result r = run_load(s, watch);
  clear_progress();
  if (o.every) lines.finish(r);
  return r;
}

/// A single round is an object, which other programs expect from a child process. Several rounds are an array.
std::string serialized(const boost::json::array& results) {
  return (results.size() == 1 ? boost::json::serialize(results[0]) : boost::json::serialize(results)) + '\n';
}

int run_command(const load_options& o) {
  const load_settings s = resolve_settings(o);
  raise_file_limit();
  pin_thread(s.cpus);
  stop_signals signals;
  fmt::print(stderr, "{}\n", describe(s));
  boost::json::array results;
  std::uint64_t failed = 0;
  bool interrupted = false;
  for (unsigned round = 1; round <= o.rounds && !interrupted; ++round) {
    const load_result r = run_once(o, s, signals.fd());
    interrupted = r.interrupted;
    failed += r.failed;
    fmt::print(stderr, "{}", to_text(s, r));
    if (o.distribution && r.measured()) fmt::print("{}", distribution_text(r.latencies, r.requests_per_s()));
    results.push_back(to_json(s, r));
    if (o.rounds > 1) results.back().as_object()["round"] = round;
  }
  const int signal = interrupted ? signals.take() : 0;
  if (!o.json.empty()) write_output(o.json, serialized(results));
  if (interrupted) return 128 + signal;
  return failed == 0 ? 0 : 1;
}

/// CLI11 applies options in this order. So those below --workload change the workload that it chose.
void add_shape_options(CLI::App& app, load_options& o) {
  workload& work = o.settings.work;
  add_parsed(
      app, "--workload NAME", work, require_workload,
      "echo, latency, large, pipeline, many, short, cpu:200us, blocking:2ms, mixed, heartbeat, timestamp, framed");
  add_parsed(app, "--connections N", work.connections, number_in<unsigned>(1, 1'000'000), "concurrent connections");
  add_parsed(app, "--size BYTES", work.message_bytes, size_in(header_bytes, most_message_bytes), "bytes of a request");
  add_parsed(app, "--pipeline N", work.pipeline, number_in<unsigned>(1, 100'000),
             "requests in flight for each connection");
  add_parsed(app, "--threads N", o.settings.threads, number_in<unsigned>(1, 1024), "threads of the client (1)");
  add_parsed(
      app, "--rate N", o.settings.rate,
      [](const std::string& t) { return static_cast<double>(parse_number(t, 1, 1'000'000'000)); },
      "requests a second, on a fixed schedule; latency counts from the scheduled time");
  add_parsed(app, "--spin S", o.settings.spin, parse_duration,
             "time that the client of many connections polls for replies before it sleeps: 100us (0)");
  app.add_flag("--short", work.short_connections, "connect, one request, close");
  app.add_flag("--http", o.settings.http,
               "like --short, over HTTP: GET /64, Connection: close; the reply is 200 with a body of --size bytes");
  app.add_option("--close", o.closing, "how short connections end: fin (from many 127.0.0.x) or reset")
      ->check(CLI::IsMember({"fin", "reset"}));
  app.add_option("--client", o.client,
                 "epoll, or blocking: a thread for each connection; shm:PATH has a client of its own")
      ->check(CLI::IsMember({"epoll", "blocking"}));
}

void add_run_options(CLI::App& app, load_options& o) {
  add_parsed(app, "--duration S", o.duration, parse_duration, "how long to measure, in seconds (5)");
  add_parsed(app, "--warm-up S", o.warm_up, parse_duration, "load before the measurement begins (1)");
  app.add_flag("--quick", o.quick, "one second, after 0.2 s of warm-up");
  add_parsed(app, "--rounds N", o.rounds, number_in<unsigned>(1, 1000), "how often to repeat the run (1)");
  add_parsed(app, "--pin CPUS", o.settings.cpus, parse_cpus, "CPUs of the client, such as 0 or 0,2-3");
  add_parsed(app, "--heartbeat HOST:PORT", o.settings.heartbeat, parse_endpoint,
             "probe this server every 10 ms during the load");
  add_parsed(app, "--every S", o.every, parse_duration, "print requests, failures and success of each interval: 1s");
  app.add_flag("--distribution", o.distribution,
               "print the latencies to the standard output as redis-benchmark does: 81.97% <= 1.1 milliseconds");
  add_parsed(app, "--server-pid PID", o.settings.server, number_in<pid_t>(1),
             "the server's process on this machine, to report what it used and whether it was the bottleneck");
  app.add_flag("--server-calls", o.settings.count_calls,
               "with --server-pid: count its system calls; this slows the server down");
  add_parsed(app, "--json FILE", o.json, parse_output,
             "write the result to this file; -: as the last line of the standard output");
}

}  // namespace

void add_load(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("load", "Sends requests to a server, checks every reply, measures.");
  sub->footer("Example: quintet-bench load 127.0.0.1:7007 --workload pipeline --duration 10 --json result.json");
  auto options = std::make_shared<load_options>();
  add_parsed(*sub, "server HOST:PORT", options->settings.target, parse_target,
             "where the server listens; or unix:PATH, or shm:PATH: shared memory that is offered there");
  add_shape_options(*sub, *options);
  add_run_options(*sub, *options);
  sub->callback([options] {
    if (const int status = run_command(*options); status != 0) throw CLI::RuntimeError(status);
  });
}

}  // namespace quintet::bench
