// SPDX-License-Identifier: BSL-1.0
// soak: rounds of everything at once: handlers, models, engines, moves, drains, pools, shared memory, other threads,
// failing system calls and allocations. Each byte, counter and callback is checked. QUINTET_SOAK_SECONDS=3600 runs for
// an hour, QUINTET_SOAK_SEED=7 begins with round 7, QUINTET_SOAK_ROUNDS=1 ends after one.
// ctest: TIMEOUT 300 LIBS quintet::rebalancer quintet_threadmodels_test_support
#include <boost/test/unit_test.hpp>

#include "../../../net/tests/support/sequences/number_from.hpp"
#include "failing_new.hpp"
#include "messages.hpp"
#include "plan.hpp"
#include "service.hpp"
#include "session.hpp"
#include "shared_memory.hpp"
#include "trouble.hpp"
#include "waiting.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <latch>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace quintet::test::soak {
namespace {

using namespace std::chrono_literals;

std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

config config_for(const plan& p, const std::string& unix_address) {
  const int buffer = p.small_buffers ? 4096 : 0;
  return {.listen = {{"127.0.0.1:0", {.socket = {.send_buffer = buffer}}},
                     {unix_address, {.socket = {.send_buffer = buffer}, .upgrade = connection_upgrade::shared_memory}}},
          .model = p.under.kind,
          .threads = {.loops = p.loops, .workers = {p.workers, p.workers + 1}},
          .engine = p.engine,
          .limits = p.limits,
          .advanced = {.accept = p.accept,
                       .priority = {.without_listener = true},
                       .rebalance = {.factor = p.rebalances ? 1.1 : 0, .interval = 2ms},
                       .stalls = {.bound = p.is_watched ? 1000ms : 0ms}}};
}

/// Runs the clients' threads. Returns the first thing that is wrong.
class crowd {
 public:
  crowd(const plan& p, const targets& at) : running_(p.clients) {
    for (unsigned i = 0; i < p.clients; ++i)
      threads_.emplace_back([this, &p, at, i] {
        const failing_allocations::spare spared;
        dice random(p.seed * 64 + i);
        for (unsigned n = 0; n < p.sessions && wrong().empty(); ++n) note(run_session(p, at, random));
        --running_;
      });
  }
  ~crowd() { finish(); }
  crowd(const crowd&) = delete;
  crowd& operator=(const crowd&) = delete;

  void finish() {
    for (std::thread& t : threads_)
      if (t.joinable()) t.join();
  }
  [[nodiscard]] unsigned running() const { return running_; }
  [[nodiscard]] std::string wrong() const {
    const std::lock_guard lock(mutex_);
    return wrong_;
  }

 private:
  void note(std::string what) {
    const std::lock_guard lock(mutex_);
    if (wrong_.empty()) wrong_ = std::move(what);
  }
  std::atomic<unsigned> running_;
  mutable std::mutex mutex_;
  std::string wrong_;
  std::vector<std::thread> threads_;
};

/// Ends the server among its clients, or after them.
template <class Server>
std::string live_through(const plan& p, stage& on, Server& s, const std::string& unix_address) {
  crowd clients(p, {s.port(), unix_address.substr(5)});
  {
    const outsider others(p, on, s.connections());
    if (p.ends == ending_way::drain_after_clients) {
      clients.finish();
    } else {
      while (on.requests < 20 * p.seed % 200 && clients.running() > 0) std::this_thread::sleep_for(100us);
      if (p.ends == ending_way::stop_among_clients) s.stop();
      if (p.ends == ending_way::drain_among_clients) s.drain(20ms);
    }
    clients.finish();
  }
  faults_active = false;
  s.drain(5s);
  return clients.wrong();
}

template <class Server>
std::string judge(const stage& on, const Server& s) {
  const auto seen = s.statistics();
  if (on.opened != on.closed)
    return std::to_string(on.opened) + " handlers were opened, and " + std::to_string(on.closed) + " closed";
  if (on.asked != on.told)
    return std::to_string(on.asked) + " when_sent() were asked, and " + std::to_string(on.told) + " told";
  if (seen.opened != seen.closed) return "the counters of opened and closed connections differ";
  return on.reported();
}

std::atomic<std::uint64_t> messages_delivered{0};

void note_messages(messages& bus, std::string& wrong) {
  const std::string here = bus.finish();
  if (wrong.empty() && !here.empty()) wrong = "bus: " + here;
  messages_delivered += bus.delivered();
}

// Threads that the server starts inherit the filter of failing calls, so it has a thread of its own from the beginning.
// The clients' threads begin before it: a client that takes a failed call for success would damage the stream itself.
template <class Handler, class Make>
std::string run_server(const plan& p, stage& on, Make make) {
  std::string wrong;
  const std::string unix_address = fresh_unix_address();
  std::thread life([&] {
    const bool spared = failing_allocations::set_spared(true);
    std::latch has_started(1);  // a start that fails is told: neither faults nor shortage before it
    server* running = nullptr;
    std::thread driver([&] {
      const failing_allocations::spare while_driving;
      has_started.wait();
      wrong = live_through(p, on, *running, unix_address);
    });
    if (p.has_faults) make_calls_fail(p);
    std::optional<messages> bus;
    if (p.bus.is_there) on.set_bus(&bus.emplace(p));
    server s(config_for(p, unix_address), handler_factory(make));
    on.set_loops(s.loops());
    running = &s;
    s.main_loop().post([&]() noexcept {
      faults_active = p.has_faults;
      failing_allocations::set_spared(false);
      has_started.count_down();
    });
    s.run();
    failing_allocations::set_spared(true);
    driver.join();
    if (wrong.empty()) wrong = judge(on, s);
    if (bus) note_messages(*bus, wrong);
    failing_allocations::set_spared(spared);
  });
  life.join();
  return wrong;
}

std::string run_round(const plan& p) {
  stage on;
  const std::size_t before = open_descriptors();
  std::string wrong;
  if (p.under.is_coroutine())
    wrong = run_server<coroutine_service>(p, on, [&on] { return coroutine_service(on); });
  else
    wrong = run_server<callback_service>(p, on, [&on] { return callback_service(on); });
  if (wrong.empty() && on.handlers != 0) wrong = "handlers are left";
  if (wrong.empty() && !eventually([&] { return open_descriptors() <= before; })) wrong = "descriptors are left";
  return wrong;
}

}  // namespace

BOOST_AUTO_TEST_CASE(everything_at_once) {
  const std::uint64_t first = testing::number_from("QUINTET_SOAK_SEED", 1);
  const std::chrono::seconds time(testing::number_from("QUINTET_SOAK_SECONDS", 30));
  const std::uint64_t most = testing::number_from("QUINTET_SOAK_ROUNDS", ~std::uint64_t{0});
  const auto end = std::chrono::steady_clock::now() + time;
  std::uint64_t rounds = 0;
  for (; rounds < most && std::chrono::steady_clock::now() < end; ++rounds) {
    const plan p = make_plan(first + rounds);
    if (testing::number_from("QUINTET_SOAK_VERBOSE", 2) == 1)
      std::puts(to_string(p).c_str()), (void)std::fflush(stdout);
    const std::string wrong = run_round(p);
    BOOST_TEST(wrong.empty(), wrong << "; QUINTET_SOAK_SEED=" << p.seed << " QUINTET_SOAK_ROUNDS=1: " << to_string(p));
    if (!wrong.empty()) return;
  }
  BOOST_TEST_MESSAGE(rounds << " rounds, " << faults_injected << " failed system calls, " << completions_failed
                            << " failed completions, " << messages_delivered << " messages");
  BOOST_TEST(rounds > 0U);
}

}  // namespace quintet::test::soak
