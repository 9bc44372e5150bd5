// SPDX-License-Identifier: BSL-1.0
// faults: system calls of servers fail under load. No reply is wrong, none is missing on a living connection, and a
// fault ends at most one connection. QUINTET_LONG=1 tests each engine in both flavours, and for longer.
// QUINTET_FAULT="recv EINTR" tests only that class of the table.
// ctest: TIMEOUT 300 RUN_SERIAL
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "../../../net/tests/support/long_runs.hpp"
#include "combination.hpp"
#include "fault_classes.hpp"
#include "forked.hpp"
#include "load.hpp"

#include <quintet/net/engine/make_engine.hpp>
#include <quintet/net/framed.hpp>
#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/server.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;
using namespace std::chrono_literals;

bool is_left_out(const fault_class& what) {
  const char* const only = std::getenv("QUINTET_FAULT");
  return only && what.name != only;
}
const std::uint64_t enough_faults = is_long() ? 200 : 15;
const std::uint64_t enough_replies = is_long() ? 5000 : 300;
const std::chrono::milliseconds longest_run = is_long() ? 10s : 1500ms;

length_prefix<4> wire() { return length_prefix<4>(1U << 20U); }
struct echo_callback {
  void operator()(connection& c, bytes message) const {
    if (const error_code failed = write_message(c, wire(), message)) c.close(failed);
  }
};
awaitable<> echo_coroutine(stream& s) {
  auto frames = wire();
  while (const auto message = co_await s.read_message(frames))
    if (write_message(s, frames, *message)) co_return;
}

/// The state that the server's process and the test share.
struct shared_state {
  fault_control faults;
  std::atomic<int> port{0};
  std::atomic<bool> stop{false};
};

constexpr int refused = 3;  // exit status: the constructor or run() threw

/// Wakes a server's main loop every 2 ms, and stops it when the test says so.
class waker {
 public:
  explicit waker(shared_state& state) : thread_([this, &state] { run(state); }) {}
  ~waker() {
    over_ = true;
    thread_.join();
  }
  waker(const waker&) = delete;
  waker& operator=(const waker&) = delete;
  /// Sets the server to wake. nullptr: the server is about to be destroyed.
  template <class Server>
  void set(Server* srv) {
    const std::lock_guard lock(mutex_);
    loop_ = srv ? &srv->main_loop() : nullptr;
  }

 private:
  void run(const shared_state& state) {
    while (!over_) {
      std::this_thread::sleep_for(2ms);
      const std::lock_guard lock(mutex_);
      if (loop_ && state.stop) loop_->stop();
      if (loop_) loop_->post([]() noexcept {});
    }
  }
  std::mutex mutex_;
  event_loop* loop_ = nullptr;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

/// Runs a server. The calls of this thread are trapped.
template <class Handler>
int serve(const config& c, Handler handler, shared_state& state, bool fails_at_start) try {
  waker wakes(state);
  state.faults.active = fails_at_start;
  bool goes = false;  // outlives the server, whose destructor runs posted functions
  server srv(c, handler);
  srv.main_loop().post([&]() noexcept { state.port = goes ? 0 : srv.port(); });
  wakes.set(&srv);
  const std::shared_ptr<void> before_it_goes(nullptr, [&](void*) {
    goes = true;
    wakes.set<server>(nullptr);
  });
  srv.run();
  return 0;
} catch (const std::exception&) {
  return refused;
}

int run_server(const fault_class& what, combination under, engine_kind engine, shared_state& state) {
  config c{.listen = {{"127.0.0.1:0", {.socket = {.send_buffer = what.kind == fault_kind::real ? 4096 : 0}}}},
           .model = under.kind,
           .threads = {.loops = 2, .workers = {2, 4}, .offload = {.policy = offload_policy::always}},
           .engine = engine,
           .advanced = {.stalls = {.bound = duration::zero()}}};
  int status = 0;
  std::thread trapped([&] {
    inject(what, state.faults);
    const bool at_start = what.kind == fault_kind::first;
    status = under.is_coroutine() ? serve(c, &echo_coroutine, state, at_start)
                                  : serve(c, framed(wire(), echo_callback()), state, at_start);
  });
  trapped.join();
  return status;
}

struct row {
  std::string_view name;
  std::uint64_t injected = 0;
  load_result seen = {};
  std::uint64_t stray = 0;   // connections lost without a fault of their own
  std::string skipped = {};  // why the class was not run
};
std::vector<row> table;

void add(row& sum, const row& more) {
  sum.injected += more.injected;
  sum.seen.replies += more.seen.replies;
  sum.seen.lost += more.seen.lost;
  sum.seen.corrupt += more.seen.corrupt;
  sum.seen.stalls += more.seen.stalls;
  sum.stray += more.stray;
}

/// Counts lost connections that no fault has touched. A fault whose call names no connection, such as the start of a
/// thread, accounts for one of them.
std::uint64_t count_strays(const load_result& seen, const fault_control& faults) {
  const std::size_t hits = std::min(faults.hits.load(), fault_control::most_hits);
  const auto was_hit = [&](std::uint16_t port) {
    return std::find(faults.hit_ports.begin(), faults.hit_ports.begin() + static_cast<std::ptrdiff_t>(hits), port) !=
           faults.hit_ports.begin() + static_cast<std::ptrdiff_t>(hits);
  };
  const auto untouched = static_cast<std::uint64_t>(std::ranges::count_if(seen.lost_ports, std::not_fn(was_hit)));
  return untouched - std::min(untouched, faults.elsewhere.load());
}

/// Stops the server's process for 200 ms, like a debugger or a suspended machine.
void stop_for_a_while(const forked& server, fault_control& faults) {
  ::kill(server.pid(), SIGSTOP);
  std::this_thread::sleep_for(200ms);
  ::kill(server.pid(), SIGCONT);
  ++faults.injected;
}

load_result make_load(const fault_class& what, const forked& server, shared_state& state) {
  const bool slow = what.kind == fault_kind::real;
  state.faults.active = true;
  load clients(static_cast<std::uint16_t>(state.port), {.connections = 20,
                                                        .largest = slow ? 100'000U : 20'000U,
                                                        .receive_buffer = slow ? 4096 : 0,
                                                        .seed = state.faults.seed});
  const auto begun = std::chrono::steady_clock::now();
  const auto enough = [&] {
    const bool few_starts = what.kind == fault_kind::first || what.kind == fault_kind::stop;
    return clients.result().replies >= enough_replies && (few_starts || state.faults.injected >= enough_faults);
  };
  auto next_stop = begun;
  while (!enough() && std::chrono::steady_clock::now() - begun < longest_run) {
    clients.turn();
    if (what.kind != fault_kind::stop || std::chrono::steady_clock::now() < next_stop) continue;
    stop_for_a_while(server, state.faults);
    next_stop = std::chrono::steady_clock::now() + 100ms;
  }
  state.faults.active = false;
  clients.finish();
  return clients.result();
}

/// Runs one server from start to end. Reports no replies if the server refuses to start.
row run_once(const fault_class& what, combination under, engine_kind engine, std::uint64_t first) {
  const shared_object<shared_state> state;
  state->faults.fail_first = first;
  state->faults.seed = 1 + static_cast<std::uint64_t>(under.kind);
  row r{.name = what.name};
  forked server([&] { return run_server(what, under, engine, *state); });
  const auto deadline = std::chrono::steady_clock::now() + longest_wait;
  while (state->port == 0 && !server.ended() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(1ms);
  if (state->port != 0) r.seen = make_load(what, server, *state);
  state->stop = true;
  const auto status = server.wait_for(2 * longest_wait);
  BOOST_TEST(status.has_value(), what.name << ", " << under << ", " << to_string(engine) << ": run() does not return");
  if (status) {
    const bool refuses = what.kind == fault_kind::first && WIFEXITED(*status) && WEXITSTATUS(*status) == refused;
    BOOST_TEST((*status == 0 || refuses), what.name << ", " << under << ", " << to_string(engine)
                                                    << ": the server's process ends with wait status " << *status);
  }
  r.injected = state->faults.injected;
  r.stray = count_strays(r.seen, state->faults);
  return r;
}

row run_class(const fault_class& what, combination under, engine_kind engine) {
  if (what.kind != fault_kind::first) return run_once(what, under, engine, 0);
  constexpr std::uint64_t most_calls = 12;
  row sum{.name = what.name};
  for (std::uint64_t first = 0; first < most_calls; ++first) {
    const row r = run_once(what, under, engine, first);
    add(sum, r);
    if (r.injected == 0) break;
  }
  return sum;
}

/// Returns false if the class does not apply there.
bool check(const fault_class& what, combination under, engine_kind engine, row& sum) {
  if (what.applies && !what.applies(under, engine)) return false;
  const row r = run_class(what, under, engine);
  add(sum, r);
  const auto where = [&] {
    return std::string(what.name) + ", " + std::string(to_string(under.kind)) + "/" + to_string(under.style) + ", " +
           std::string(to_string(engine));
  };
  BOOST_TEST(r.injected > 0U, where() << ": no fault was injected");
  BOOST_TEST(r.seen.replies > 0U, where() << ": no reply");
  BOOST_TEST(r.seen.corrupt == 0U, where() << ": " << r.seen.corrupt << " wrong replies");
  BOOST_TEST(r.seen.stalls == 0U, where() << ": " << r.seen.stalls << " connections stalled");
  BOOST_TEST(r.seen.lost <= what.may_lose * r.injected,
             where() << ": " << r.seen.lost << " connections lost by " << r.injected << " faults");
  BOOST_TEST(r.stray == 0U, where() << ": " << r.stray << " connections lost that had no fault");
  return true;
}

// Faults of a ring exist only in its engine.
bool is_wanted(const fault_class& what, engine_kind engine) {
  const bool is_of_ring = what.kind == fault_kind::completion || what.name.find("ring") != what.name.npos;
  return is_long() || engine == (is_of_ring ? engine_kind::uring : engine_kind::epoll);
}

/// Returns why the class was not run at all. A refusal by the kernel is reported first, because it can be repaired.
std::string reason_to_skip(const fault_class& what) {
  std::string why = "no model has such a call here";
  for (const engine_kind engine : built_engines())
    if (const error_code refusal = refused_by_kernel(engine); refusal && is_wanted(what, engine))
      why = "the kernel refuses " + std::string(to_string(engine)) + " (" + refusal.message() + ")";
  return why;
}

boost::test_tools::assertion_result trap_works(boost::unit_test::test_unit_id) { return can_trap(); }

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(trap_works))
BOOST_DATA_TEST_CASE(under_load, data::xrange(all_fault_classes().size()), number) {
  const fault_class& what = all_fault_classes()[number];
  if (is_left_out(what)) return;
  row sum{.name = what.name};
  bool ran = false;
  for (const engine_kind engine : built_engines()) {
    if (engine == engine_kind::automatic || !is_wanted(what, engine) || refused_by_kernel(engine)) continue;
    for (const combination under : all_combinations)
      if (is_long() || !under.is_coroutine()) ran |= check(what, under, engine, sum);
  }
  if (!ran) sum.skipped = reason_to_skip(what);
  table.push_back(sum);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(trap_works))
BOOST_AUTO_TEST_CASE(the_table) {
  std::printf("%-24s %8s %8s %8s %8s %8s\n", "class", "faults", "replies", "lost", "corrupt", "stalls");
  for (const row& r : table) {
    const bool ran = r.skipped.empty();
    BOOST_TEST((r.injected > 0U) == ran, r.name << ": no fault was injected, and nothing says why");
    if (!ran) std::printf("skipped: %.*s: %s\n", static_cast<int>(r.name.size()), r.name.data(), r.skipped.c_str());
    if (!ran) continue;
    std::printf("%-24.*s %8lu %8lu %8lu %8lu %8lu\n", static_cast<int>(r.name.size()), r.name.data(), r.injected,
                r.seen.replies, r.seen.lost, r.seen.corrupt, r.seen.stalls);
  }
  const auto& all = all_fault_classes();
  BOOST_TEST(all.size() >= 22U);
  BOOST_TEST(table.size() == static_cast<std::size_t>(std::ranges::count_if(all, std::not_fn(is_left_out))));
  BOOST_TEST(!table.empty(), "no class has this name, or none was run");
}

}  // namespace
}  // namespace quintet::test
