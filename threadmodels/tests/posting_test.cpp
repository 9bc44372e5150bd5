// SPDX-License-Identifier: BSL-1.0
// posting_test: posts of other threads, and timers, reach a connection's loop, wherever its thread waits.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/threadmodels/server.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <signal.h>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;

/// Tells the test the connection's loop. Answers a number with that many bytes.
struct publisher {
  std::promise<event_loop*>* loop;
  void on_open(connection& c) const { loop->set_value(&c.loop()); }
  void operator()(connection& c, bytes in) const { c.write(std::string(std::stoul(std::string(in)), 'x')); }
};

struct fixture {
  explicit fixture(model kind, const client_options& options = {})
      : srv(config{.model = kind, .threads = {.loops = 2}}, publisher{&loop_promise}), peer(srv->port(), options) {
    auto opened = loop_promise.get_future();
    BOOST_REQUIRE((opened.wait_for(patience) == std::future_status::ready));
    loop = opened.get();
  }
  std::promise<event_loop*> loop_promise;
  event_loop* loop = nullptr;
  running<server> srv;
  client peer;
};

/// Returns whether a function that is posted now runs, on the loop's own thread.
bool post_arrives(event_loop& loop) {
  const auto done = std::make_shared<std::promise<bool>>();
  auto result = done->get_future();
  loop.post([done, &loop] { done->set_value(loop.in_this_thread()); });
  return result.wait_for(patience) == std::future_status::ready && result.get();
}

BOOST_DATA_TEST_CASE(a_post_arrives_while_the_peer_is_silent, data::make(all_models), kind) {
  fixture f(kind);
  BOOST_TEST(!f.loop->in_this_thread());
  for (int i = 0; i < 100; ++i) BOOST_REQUIRE(post_arrives(*f.loop));
  f.peer.send("5");
  BOOST_TEST(f.peer.receive(5) == "xxxxx");
  BOOST_TEST(post_arrives(*f.loop));
}

/// Blocks all signals in the calling thread, and in threads that it starts, while the object lives.
struct all_signals_blocked {
  all_signals_blocked() {
    sigset_t all{};
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &before);
  }
  ~all_signals_blocked() { ::pthread_sigmask(SIG_SETMASK, &before, nullptr); }
  all_signals_blocked(const all_signals_blocked&) = delete;
  all_signals_blocked& operator=(const all_signals_blocked&) = delete;
  sigset_t before{};
};

// Like a program that waits for signals in one thread.
BOOST_DATA_TEST_CASE(a_post_and_stop_arrive_where_all_signals_are_blocked, data::make(all_models), kind) {
  const all_signals_blocked blocked;
  fixture f(kind);
  for (int i = 0; i < 10; ++i) BOOST_REQUIRE(post_arrives(*f.loop));
  f.peer.send("5");
  BOOST_TEST(f.peer.receive(5) == "xxxxx");
  f.srv.stop();
  f.srv.join();
}

/// Blocks all signals in each call, and leaves them blocked.
struct blocking_publisher : publisher {
  void operator()(connection& c, bytes in) const {
    sigset_t all{};
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
    publisher::operator()(c, in);
  }
};

/// Keeps all CPUs busy while it lives, so that a thread that yields waits for several milliseconds.
class busy_machine {
 public:
  explicit busy_machine(unsigned threads) {
    for (unsigned i = 0; i < threads; ++i)
      threads_.emplace_back([this] {
        while (!ends_.load(std::memory_order_relaxed)) {
        }
      });
  }
  ~busy_machine() {
    ends_ = true;
    for (std::thread& t : threads_) t.join();
  }
  busy_machine(const busy_machine&) = delete;
  busy_machine& operator=(const busy_machine&) = delete;

 private:
  std::atomic<bool> ends_{false};
  std::vector<std::thread> threads_;
};

// A post before the peer's next bytes may wait for them. Afterwards posts reach the thread again.
void recovers_from_a_handler_that_leaves_signals_blocked(int times) {
  std::promise<event_loop*> opened;
  auto loop = opened.get_future();
  running<server> srv(config{.model = model::thread_per_connection}, blocking_publisher{publisher{&opened}});
  client peer(srv->port());
  peer.send("1");
  BOOST_TEST(peer.receive(1) == "x");
  event_loop& at = *loop.get();
  std::atomic<int> ran{0};
  for (int i = 1; i <= times; ++i) {  // most posts find the thread in recv()
    at.post([&] { ++ran; });
    peer.send("1");
    BOOST_REQUIRE(peer.receive(1) == "x");
    BOOST_REQUIRE(eventually([&] { return ran == i; }));
  }
  peer = client(srv->port());  // the thread of the first connection ends its wait
}

BOOST_AUTO_TEST_CASE(a_thread_recovers_from_a_handler_that_leaves_signals_blocked) {
  recovers_from_a_handler_that_leaves_signals_blocked(50);
}

// The loop must detect the blocked signal without thousands of checks.
BOOST_AUTO_TEST_CASE(a_thread_recovers_also_on_a_busy_machine) {
  const busy_machine others(4 * std::max(1U, std::thread::hardware_concurrency()));
  recovers_from_a_handler_that_leaves_signals_blocked(5);
}

// In model 1 the thread blocks in send(), again and again.
BOOST_DATA_TEST_CASE(a_post_arrives_while_the_peer_does_not_read, data::make(all_models), kind) {
  constexpr std::size_t size = 32'000'000;
  fixture f(kind, {.receive_buffer = 16 * 1024});
  f.peer.send(std::to_string(size));
  BOOST_REQUIRE(f.peer.receive(1) == "x");
  for (int i = 0; i < 100; ++i) BOOST_REQUIRE(post_arrives(*f.loop));
  std::size_t received = 1;
  while (received < size) {
    const std::size_t part = f.peer.receive(std::min<std::size_t>(4'000'000, size - received)).size();
    BOOST_REQUIRE(part > 0u);
    received += part;
    BOOST_REQUIRE(post_arrives(*f.loop));
  }
  f.peer.send("3");
  BOOST_TEST(f.peer.receive(3) == "xxx");
}

// Posts race with the thread's entry into and exit from recv(). None is lost, and those of each thread keep their
// order.
BOOST_DATA_TEST_CASE(posts_from_many_threads_while_bytes_flow, data::make(all_models), kind) {
  constexpr int threads = 3, posts = 2000;
  fixture f(kind);
  std::vector<int> last(threads, -1);  // used only by the loop's thread
  std::atomic<int> ran{0}, disorder{0};
  std::vector<std::thread> posters;
  for (int t = 0; t < threads; ++t) {
    posters.emplace_back([&, t] {
      for (int i = 0; i < posts; ++i) {
        f.loop->post([&, t, i] {
          disorder += last[static_cast<std::size_t>(t)] != i - 1;
          last[static_cast<std::size_t>(t)] = i;
          ++ran;
        });
      }
    });
  }
  bool right = true;
  for (int i = 0; i < 500 && right; ++i) right = f.peer.send("1") && f.peer.receive(1) == "x";
  for (std::thread& t : posters) t.join();
  BOOST_TEST(right);
  BOOST_TEST(eventually([&] { return ran == threads * posts; }));
  BOOST_TEST(disorder == 0);
}

BOOST_DATA_TEST_CASE(a_timer_fires_while_the_peer_is_silent, data::make(all_models), kind) {
  fixture f(kind);
  std::promise<int> fired;
  int count = 0;
  struct repeating final : timer {
    repeating(event_loop& l, int& n, std::promise<int>& p) : loop(l), count(n), done(p) {}
    void expired() noexcept override {
      if (++count < 3)
        loop.start(*this, std::chrono::milliseconds(2));
      else
        done.set_value(count);
    }
    event_loop& loop;
    int& count;
    std::promise<int>& done;
  };
  repeating r(*f.loop, count, fired);
  f.loop->post([&] { f.loop->start(r, std::chrono::milliseconds(2)); });
  auto result = fired.get_future();
  BOOST_REQUIRE((result.wait_for(patience) == std::future_status::ready));
  BOOST_TEST(result.get() == 3);
  f.peer.send("2");
  BOOST_TEST(f.peer.receive(2) == "xx");
}

/// Waits at the gate, so that posted functions queue up behind it.
struct waiting_handler {
  gate* until;
  std::atomic<connection_registry*>* registry;
  connection_id* id;
  void operator()(connection& c, bytes) const {
    *id = c.id();
    *registry = &c.registry();
    until->wait();
  }
};

BOOST_DATA_TEST_CASE(nothing_runs_after_a_posted_function_has_thrown, data::make(all_models), kind) {
  gate until;
  std::atomic<connection_registry*> registry{nullptr};
  connection_id id;
  std::atomic<int> ran{0};
  running<server> srv(config{.model = kind, .threads = {.loops = 1, .workers = {1, 1}}},
                      waiting_handler{&until, &registry, &id});
  client c(srv->port());
  c.send("x");
  BOOST_REQUIRE(until.await_waiting(1));
  const auto alive = std::make_shared<int>();
  BOOST_TEST(!registry.load()->post(id, [&ran](connection&) { ++ran; }));
  BOOST_TEST(!registry.load()->post(id, [](connection&) { throw std::runtime_error("as requested"); }));
  for (int i = 0; i < 3; ++i) BOOST_TEST(!registry.load()->post(id, [&ran, alive](connection&) { ++ran; }));
  until.open();
  BOOST_TEST(c.receive_rest().empty());
  BOOST_TEST(eventually([&] { return srv->statistics().closed == 1; }));
  BOOST_TEST(ran == 1);
  BOOST_TEST(eventually([&] { return alive.use_count() == 1; }));
  BOOST_TEST(srv->statistics().handler_errors == 1U);
}

}  // namespace
}  // namespace quintet::test
