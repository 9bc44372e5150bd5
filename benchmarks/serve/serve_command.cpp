// SPDX-License-Identifier: BSL-1.0
// serve_command.cpp: `quintet-bench serve`: runs one server until a signal stops it.
#include "command_line.hpp"
#include "commands.hpp"
#include "output_file.hpp"
#include "peers/peer_server.hpp"
#include "serve/handler.hpp"
#include "serve/profile.hpp"
#include "serve/stats.hpp"
#include "serve/ticker.hpp"

#include <quintet/base/error.hpp>
#include <quintet/net/engine/make_engine.hpp>
#include <quintet/threadmodels/server.hpp>

#include <fmt/core.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <boost/json/serialize.hpp>
#include <boost/json/value_from.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

namespace quintet::bench {
namespace {

/// Prints to stderr instead of the log: a server with a log also looks up every client's address.
void report_stall(const stall& s) {
  fmt::print(stderr, "quintet-bench: {}{}{}\n", s.peer, s.peer.empty() ? "" : ": ", to_string(s));
}

/// Returns the defaults of `serve`. No member is left to the environment, whose values may be wrong.
config default_config() {
  return {.model = model::loop_per_thread,
          .threads = {.loops = std::max<unsigned>(1, static_cast<unsigned>(allowed_cpus().size()))},
          .advanced = {.priority = {.scheduling = priority_scheduling::automatic},
                       .stalls = {.bound = duration::zero(), .on_stall = report_stall}}};
}

struct serve_options {
  config server = default_config();  ///< most options set its members; make_config() adds the others
  std::optional<quintet::model> model;
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;
  std::optional<std::uint16_t> priority_port;
  std::string unix_path;
  std::size_t ring_size = shared_memory_options().ring_size;
  std::optional<std::size_t> max_threads, merge_threshold;
  std::string pin_loops;
  workload work = require_workload("echo");
  std::string handler;
  std::optional<count_range> pieces;
  bool no_merging = false;
  const peer_kind* peer = nullptr;
  std::optional<std::size_t> files;  ///< open descriptors; unset: as many as the system allows
  cpu_list cpus;
  std::optional<std::chrono::nanoseconds> duration;
  std::string json;
  profile_request profile;
  bool stats = false;
  bool exit_with_parent = false;
};

double parse_factor(const std::string& text) {
  double factor = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), factor);
  if (error != std::errc() || end != text.data() + text.size())
    throw usage_error('"' + text + "\" is not a factor; it must be a number such as 1.2");
  return factor;
}

worker_limits parse_workers(std::string_view text) {
  const count_range threads = parse_range(text, 10'000);
  return {.min = threads.min, .max = threads.max};
}

/// Rounds up to the kernel's resolution, so a value above 0 does not become 0.
std::chrono::microseconds parse_microseconds(std::string_view text) {
  return std::chrono::ceil<std::chrono::microseconds>(parse_duration(text));
}

/// Checks the parent again after prctl(): the parent may have died before the kernel was asked to send the signal.
void die_with_parent(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::raise(SIGTERM);
}

void announce(const char* what, const std::string& address, std::uint16_t port) {
  fmt::print("{} on {}:{}\n", what, address == "0.0.0.0" ? "127.0.0.1" : address, port);
  std::fflush(stdout);
}

/// Pins the loops to `to`: "all", "idle", or a list of CPUs.
void pin_loops(config& c, const std::string& to) {
  if (to.empty()) return;
  c.placement.idle_cpus = to == "idle";
  for (const unsigned cpu : to == "all" || to == "idle" ? allowed_cpus() : parse_cpus(to))
    c.placement.cpus.push_back(static_cast<int>(cpu));
}

config make_config(const serve_options& o) {
  config c = o.server;
  c.model = o.model.value_or(default_model());
  c.listen = {join_address(o.address, o.port)};
  if (o.priority_port) c.listen.push_back({join_address(o.address, *o.priority_port), {.priority = true}});
  if (!o.unix_path.empty())
    c.listen.push_back({"unix:" + o.unix_path,
                        {.upgrade = connection_upgrade::shared_memory, .shared_memory = {.ring_size = o.ring_size}}});
  c.threads.max_threads =
      o.max_threads.value_or(std::max<std::size_t>(c.threads.max_threads, o.work.connections + 100));
  c.limits.high_watermark = std::min(c.limits.high_watermark, c.limits.max_output);
  c.limits.low_watermark = std::min(c.limits.low_watermark, c.limits.high_watermark / 2);
  c.limits.merge_threshold = o.merge_threshold.value_or(c.limits.merge_threshold);
  pin_loops(c, o.pin_loops);
  return c;
}

/// Names the engine that moves the connections' bytes. With a thread per connection, that is not the accepting loop's.
std::string_view engine_of(const config& c, event_loop& main) {
  return c.model == model::thread_per_connection ? "blocking" : main.io().capabilities().name;
}

/// Prints to stderr instead of the log: a server with a log also looks up every client's address.
void report_refusal(engine_kind wanted) {
  if (const error_code why = refused_by_kernel(wanted))
    fmt::print(stderr, "quintet-bench: the kernel refuses io_uring; epoll is used instead: {}\n", why.message());
}

void report_replacement(accept_strategy wanted, accept_strategy in_use) {
  if (wanted != in_use)
    fmt::print(stderr, "quintet-bench: {1} is not available; {0} is used instead (--strict makes this an error)\n",
               to_string(in_use), to_string(wanted));
}

template <class Handler>
void serve_ours(const serve_options& o, Handler handler) {
  const config c = make_config(o);
  report_refusal(c.engine);
  server srv(c, std::move(handler));
  const stop_on_signals stopper(srv);
  std::optional<ticker> ticks;
  stats_line line(std::string(to_string(c.model)));
  if (o.stats || o.duration)
    ticks.emplace(
        [&] {
          if (o.stats) line.print(srv.statistics(), open_on_each(srv.loops()));
        },
        o.duration, [&] { srv.stop(); });
  fmt::print("engine {}\n", engine_of(c, srv.main_loop()));
  report_replacement(c.advanced.accept, srv.accept());
  if (const auto cpus = cpus_of(srv.loops()); !cpus.empty()) fmt::print("loops on CPUs {}\n", fmt::join(cpus, ","));
  if (!o.unix_path.empty()) fmt::print("also on unix:{0} and shm:{0}\n", o.unix_path);
  announce("listening", o.address, srv.port());
  if (o.priority_port) announce("priority", o.address, srv.priority_port());
  const auto begun = std::chrono::steady_clock::now();
  srv.run();
  const std::chrono::duration<double> lasted = std::chrono::steady_clock::now() - begun;
  if (o.json.empty()) return;
  auto counters = to_json(srv.statistics(), to_string(c.model), lasted.count());
  counters["engine"] = engine_of(c, srv.main_loop());
  counters["accept"] = to_string(srv.accept());
  counters["opened_by_each"] = opened_on_each(srv.loops());
  counters["loop_cpus"] = boost::json::value_from(cpus_of(srv.loops()));
  write_output(o.json, boost::json::serialize(counters) + '\n');
}

void serve_ours(const serve_options& o) {
  if (o.handler == "coroutine") return serve_ours(o, echo_coroutine);
  require_possible(o.work);
  if (o.work.kind == work_kind::framed) return serve_ours(o, framed(framed_echo::codec(), framed_echo()));
  const service shared(o.work, o.pieces.value_or(piece_stream::default_sizes), !o.no_merging,
                       o.merge_threshold.has_value());
  serve_ours(o, handler_factory([&shared] { return bench_handler(shared); }));
}

std::atomic<peer_server*> running_peer{nullptr};
static_assert(std::atomic<peer_server*>::is_always_lock_free);  // a signal handler reads it

void serve_peer(const serve_options& o) {
  const auto echo = o.peer->make({o.address, o.port, o.server.threads.loops});
  running_peer = echo.get();
  struct sigaction action{};
  action.sa_handler = [](int) { running_peer.load()->stop(); };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
  std::optional<ticker> ticks;
  if (o.duration) ticks.emplace(nullptr, o.duration, [&] { echo->stop(); });
  announce("listening", o.address, echo->port());
  echo->run();
}

void refuse_for_coroutine(const serve_options& o) {
  if (o.work.kind != work_kind::echo)
    throw usage_error("--handler: the coroutine only echoes; \"" + o.work.name + "\" does more");
}

void refuse_pieces(const serve_options& o) {
  if ((o.pieces || o.no_merging || o.merge_threshold) && (o.work.kind != work_kind::ask || o.handler == "coroutine"))
    throw usage_error(
        "--pieces, --no-merging and --merge-threshold are only for --workload ask with --handler callback");
}

void run_command(const serve_options& o, pid_t parent) {
  if (o.peer && o.work.kind != work_kind::echo)
    throw usage_error("--peer: the peers only echo; \"" + o.work.name + "\" does more");
  if (o.peer && o.duration && !o.peer->program.empty())
    throw usage_error("--duration: " + std::string(o.peer->program) + " is a program of its own; end it by a signal");
  refuse_pieces(o);
  if (o.handler == "coroutine") refuse_for_coroutine(o);
  if (o.exit_with_parent) die_with_parent(parent);
  const profiler profiled(o.profile);
  o.files ? limit_files(*o.files) : raise_file_limit();
  pin_thread(o.cpus);
  try {
    o.peer ? serve_peer(o) : serve_ours(o);
  } catch (const config_error& e) {
    throw usage_error(e.what());
  }
}

/// CLI11 applies options in this order. So --size changes the workload that --workload chose.
void add_server_options(CLI::App& app, serve_options& o) {
  add_parsed(app, "--model NAME", o.model, parse_model,
             "thread_per_connection, single_reactor, reactor_pool, loop_per_thread, loop_per_thread_pool; or 1 to 5");
  add_parsed(app, "--workload NAME", o.work, require_workload,
             "work of a request: echo, cpu:200us, blocking:2ms, mixed, ...");
  add_parsed(app, "--size BYTES", o.work.message_bytes, size_in(header_bytes, most_message_bytes),
             "bytes of a request (default: by workload)");
  add_parsed(
      app, "--address ADDRESS", o.address, [](const std::string& t) { return t; }, "address to listen on (127.0.0.1)");
  add_parsed(app, "--port PORT", o.port, number_in<std::uint16_t>(0, 65535),
             "port to listen on; 0: pick one and print it");
  add_parsed(
      app, "--unix PATH", o.unix_path, [](const std::string& t) { return parse_target("unix:" + t).path; },
      "a Unix socket too, which offers shared memory: load unix:PATH, load shm:PATH");
  add_parsed(app, "--ring-size BYTES", o.ring_size, size_in(4096, 64 * 1024 * 1024),
             "with --unix: bytes of each direction of a connection over shared memory, a power of two (64k)")
      ->needs(app.get_option("--unix"));
  add_parsed(app, "--priority-port PORT", o.priority_port, number_in<std::uint16_t>(0, 65535),
             "a second port with a thread of its own; 0: pick one");
  add_parsed(app, "--priority-scheduling NAME", o.server.advanced.priority.scheduling,
             named<priority_scheduling>("a priority scheduling"),
             "scheduling of that thread: automatic (default), real_time, short_slice, none");
  add_parsed(app, "--heartbeat-interval S", o.server.advanced.heartbeat.interval, parse_duration,
             "interval of the heartbeat monitor, which also measures how late it runs: 10ms; 0: off (0)");
  add_parsed(app, "--loops N", o.server.threads.loops, number_in<unsigned>(1, 1024),
             "event loops of models 4 and 5, threads of the peers asio-shared, asio-separate and tokio-echo (the CPUs "
             "it may use)");
  add_parsed(app, "--workers MIN..MAX", o.server.threads.workers, parse_workers,
             "MIN..MAX worker threads of models 3 and 5");
  add_parsed(app, "--offload NAME", o.server.threads.offload.policy, named<offload_policy>("an offload policy"),
             "batches that models 3 and 5 hand off to workers: always, adaptive, or automatic (adaptive in model 5)");
  add_parsed(app, "--engine NAME", o.server.engine, parse_engine,
             "I/O engine: epoll, asio, uring, or automatic (epoll, unless QUINTET_ENGINE names another)");
  add_parsed(app, "--accept NAME", o.server.advanced.accept, named<accept_strategy>("an accept strategy"),
             "accept strategy: main_reactor (default), or on each loop: reuse_port, reuse_port_cpu, exclusive");
  add_parsed(app, "--placement NAME", o.server.placement.policy, named<placement_policy>("a placement policy"),
             "placement of connections by the main reactor: round_robin (default), least_connections, peer_hash");
  app.add_flag("--strict", o.server.advanced.accept_strictly,
               "fail if --accept is not available, instead of using another strategy");
  add_parsed(app, "--rebalance FACTOR", o.server.advanced.rebalance.factor, parse_factor,
             "move connections if a loop has more than this factor of another loop's load: 1.2; 0: never (0)");
  add_parsed(app, "--rebalance-by NAME", o.server.advanced.rebalance.by, named<rebalance_measure>("a measure of load"),
             "measure of a loop's load: connections (default), cpu_time");
  app.add_flag("--pin-loops{all}", o.pin_loops,
               "pin each loop to its own CPU, as long as there are enough; =idle: to those that were least busy in "
               "the last 100 ms; =0,2: to these")
      ->type_name("[=CPUS]");
  app.add_flag("--own-descriptors", o.server.placement.own_descriptors,
               "model 4 with --accept reuse_port: ulimit -n applies to each loop, not to the process");
  add_parsed(app, "--spin S", o.server.advanced.loop.spin, parse_duration,
             "poll for work this long before sleeping, while that pays: 100us; 0: sleep at once (0)");
  add_parsed(app, "--busy-poll S", o.server.advanced.busy_poll, parse_microseconds,
             "SO_BUSY_POLL of the connections: 50us; 0: the system's default (0)");
  add_parsed(app, "--static-output BYTES", o.server.advanced.loop.static_output, number_in<std::size_t>(0),
             "bytes of send buffers that each loop allocates in advance (0)");
  add_parsed(app, "--stall-bound S", o.server.advanced.stalls.bound, parse_duration,
             "report handlers that keep a thread busy for longer than this, and where: 50ms; 0: off (0)");
  app.add_option("--handler", o.handler, "kind of handler: callback (default) or coroutine")
      ->check(CLI::IsMember({"callback", "coroutine"}));
  add_parsed(app, "--pieces MIN..MAX", o.pieces, range_up_to(piece_stream::largest),
             "MIN..MAX bytes of the pieces in which the workload ask answers (16384)");
  app.add_flag("--no-merging", o.no_merging,
               "workload ask: send each reply and each piece with a system call of its own");
  std::string names;
  for (const peer_kind& p : all_peers()) names += (names.empty() ? "" : ", ") + std::string(p.name);
  add_parsed(
      app, "--peer NAME", o.peer, [](const std::string& t) { return &require_peer(t); },
      "an echo server on another library instead of ours: " + names);
}

/// The library's limits, for tests with misbehaving peers.
void add_limit_options(CLI::App& app, serve_options& o) {
  const auto bytes = number_in<std::size_t>(1);
  add_parsed(app, "--files N", o.files, number_in<std::size_t>(16), "open at most this many descriptors (ulimit -Hn)");
  add_parsed(app, "--max-connections N", o.server.accepting.max_connections, number_in<std::size_t>(0),
             "stop accepting while this many connections are open; 0: no limit (0)");
  add_parsed(app, "--max-threads N", o.max_threads, number_in<std::size_t>(1),
             "model 1: largest number of threads (4096, or enough for the workload)");
  add_parsed(app, "--message-timeout S", o.server.limits.message_timeout, parse_duration,
             "time limit from the first byte of a message to its last; 0: no limit (0)");
  add_parsed(app, "--max-output BYTES", o.server.limits.max_output, bytes,
             "bytes of output that may be queued for one connection");
  add_parsed(app, "--max-output-total BYTES", o.server.memory.max_output_total, bytes,
             "the same for all connections together");
  add_parsed(app, "--receive-size BYTES", o.server.advanced.loop.receive_size, size_in(1, 64 * 1024),
             "bytes that one receive call takes at most (64k)");
  add_parsed(app, "--tuned-sockets N", o.server.memory.tuned_sockets, number_in<std::size_t>(0),
             "number of connections beyond which socket buffers are bounded");
  add_parsed(app, "--high-watermark BYTES", o.server.limits.high_watermark, number_in<std::size_t>(0),
             "bytes of queued output above which a connection's input pauses; it resumes below half of that");
  add_parsed(
      app, "--merge-threshold BYTES", o.merge_threshold, size_in(1, piece_stream::largest * 2),
      "workload ask: pieces of fewer bytes are copied into one buffer, others are sent from where they are (4k)");
}

void add_run_options(CLI::App& app, serve_options& o) {
  add_parsed(app, "--pin CPUS", o.cpus, parse_cpus, "CPUs of the server, such as 0 or 0,2-3");
  add_parsed(app, "--duration S", o.duration, parse_duration, "end after this time, in seconds (default: never)");
  app.add_flag("--stats", o.stats, "print a line of counters every second (takes one more thread)");
  add_parsed(app, "--json FILE", o.json, parse_output,
             "write all counters to this file at the end; -: to the standard output");
  add_parsed(
      app, "--profile KIND=FILE", o.profile, parse_profile,
      "cpu=FILE or heap=FILE: profile the server with gperftools, for google-pprof; heap: FILE.0001.heap and so on");
  app.add_flag("--exit-with-parent", o.exit_with_parent, "end when the process that started this one ends");
}

/// Options that a peer would ignore are refused.
void exclude_from_peers(CLI::App& app) {
  constexpr std::array<std::string_view, 11> theirs{
      "--peer",  "--workload", "--size",     "--address",          "--port", "--loops",
      "--files", "--pin",      "--duration", "--exit-with-parent", "--help"};
  CLI::Option* const peer = app.get_option("--peer");
  for (CLI::Option* const option : app.get_options())
    if (std::ranges::find(theirs, option->get_name()) == theirs.end()) option->excludes(peer);
}

}  // namespace

void add_serve(CLI::App& app) {
  const pid_t parent = ::getppid();
  CLI::App* sub = app.add_subcommand("serve", "Runs a server of one model and workload; SIGINT or SIGTERM ends it.");
  sub->footer("Example: quintet-bench serve --model loop_per_thread --workload echo --port 7007 --stats");
  auto options = std::make_shared<serve_options>();
  add_server_options(*sub, *options);
  add_limit_options(*sub, *options);
  add_run_options(*sub, *options);
  exclude_from_peers(*sub);
  sub->callback([options, parent] { run_command(*options, parent); });
}

}  // namespace quintet::bench
