// SPDX-License-Identifier: BSL-1.0
// resolver_test: look-ups run side by side, are bounded, shared and cancelled; and nothing waits for one that hangs.
#include <quintet/net/client/resolver.hpp>
#include <quintet/net/event_loop.hpp>

#include "needs.hpp"
#include "silent_names.hpp"
#include "watched_engine.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace quintet {
namespace {

using detail::lookup_answer;
using detail::name_lookups;
using namespace std::chrono_literals;

/// Look-ups of names that begin with "hangs" wait until release(). Others are answered at once. The state outlives the
/// look-ups that hang.
class names {
 public:
  explicit names(duration slow_after)
      : lookups_([s = state_](const std::string& host, const std::string& port) { return look_up(*s, host, port); },
                 slow_after) {}
  ~names() { release(); }
  names(const names&) = delete;
  names& operator=(const names&) = delete;

  name_lookups& lookups() { return lookups_; }
  int begun() const { return state_->begun; }
  /// Returns once `count` look-ups have begun.
  void await_begun(int count) {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [&] { return state_->begun >= count; });
  }
  void release() {
    const std::lock_guard lock(state_->mutex);
    state_->released = true;
    state_->changed.notify_all();
  }

 private:
  struct state {
    std::mutex mutex;
    std::condition_variable changed;
    std::atomic<int> begun{0};
    bool released = false;
  };
  static lookup_answer look_up(state& s, const std::string& host, const std::string& port) {
    std::unique_lock lock(s.mutex);
    ++s.begun;
    s.changed.notify_all();
    if (host.starts_with("hangs")) s.changed.wait(lock, [&] { return s.released; });
    if (host == "no-memory") throw std::bad_alloc();
    return {{}, {address("127.0.0.1:" + port)}};
  }
  const std::shared_ptr<state> state_ = std::make_shared<state>();
  name_lookups lookups_;
};

/// A loop with resolvers whose answers are noted.
struct world {
  explicit world(std::size_t max_lookups = 16, duration slow_after = 1h)
      : known(slow_after), loop(make_default_engine(), clock::system(), {.tuning = {.max_lookups = max_lookups}}) {}

  std::unique_ptr<resolver> ask(const std::string& host) {
    std::unique_ptr<resolver> made;
    on_loop([&] {
      made = std::make_unique<resolver>(
          loop, host, "7",
          [this, host](error_code failed, const std::vector<address>& found) {
            answers.push_back(host + (failed ? "!" : ":" + std::to_string(found.size())));
            last = failed;
          },
          known.lookups());
    });
    return made;
  }
  void forget(std::unique_ptr<resolver>& r) {
    on_loop([&] { r.reset(); });
  }
  void await_answers(std::size_t count) {
    while (answers.size() < count) loop.poll();
  }
  template <class F>
  void on_loop(F f) {
    bool done = false;
    loop.post([&]() noexcept {
      f();
      done = true;
    });
    while (!done) loop.poll();
  }

  names known;
  event_loop loop;
  std::vector<std::string> answers;
  error_code last;
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_name_that_hangs_delays_no_other) {
  world w;
  auto hangs = w.ask("hangs");
  w.known.await_begun(1);
  for (const char* name : {"a", "b", "c", "d"}) {
    w.answers.clear();
    const auto other = w.ask(name);
    w.await_answers(1);
    BOOST_TEST(w.answers.front() == std::string(name) + ":1");
  }
  w.forget(hangs);
}

BOOST_AUTO_TEST_CASE(equal_lookups_share_one) {
  world w;
  std::vector<std::unique_ptr<resolver>> all;
  for (int i = 0; i < 5; ++i) all.push_back(w.ask("hangs"));
  w.known.await_begun(1);
  all.push_back(w.ask("hangs"));  // it has begun
  BOOST_TEST(w.known.lookups().running() == 1U);
  BOOST_TEST(w.known.lookups().waiting() == 0U);
  w.known.release();
  w.await_answers(6);
  BOOST_TEST(w.known.begun() == 1);
  const auto afterwards = w.ask("hangs");  // the next one asks anew
  w.await_answers(7);
  BOOST_TEST(w.known.begun() == 2);
}

BOOST_AUTO_TEST_CASE(lookups_beyond_the_limit_wait_and_cancelling_ends_the_wait_at_once) {
  world w(2);
  auto first = w.ask("hangs1"), second = w.ask("hangs2"), third = w.ask("third"), fourth = w.ask("fourth");
  w.known.await_begun(2);
  BOOST_TEST(w.known.lookups().running() == 2U);
  BOOST_TEST(w.known.lookups().waiting() == 2U);
  w.forget(third);
  BOOST_TEST(w.known.lookups().waiting() == 1U);
  w.forget(first);  // it has begun, and goes on
  BOOST_TEST(w.known.lookups().running() == 2U);
  w.known.release();
  w.await_answers(2);
  BOOST_TEST(w.known.begun() == 3);
  BOOST_TEST(std::ranges::count(w.answers, "fourth:1") == 1);
  BOOST_TEST(std::ranges::count(w.answers, "hangs2:1") == 1);
}

// None of them ends. Each of the others waits until one that hangs has become slow.
BOOST_AUTO_TEST_CASE(names_that_hang_at_once_delay_others_until_they_are_slow) {
  world w(2, 1ms);
  std::vector<std::unique_ptr<resolver>> hang;
  for (int i = 0; i < 6; ++i) hang.push_back(w.ask("hangs" + std::to_string(i)));
  const auto first = w.ask("first"), second = w.ask("second");
  w.await_answers(2);
  BOOST_TEST(std::ranges::count(w.answers, "first:1") == 1);
  BOOST_TEST(std::ranges::count(w.answers, "second:1") == 1);
  w.known.await_begun(8);
  BOOST_TEST(w.known.lookups().running() == 6U);
}

BOOST_AUTO_TEST_CASE(there_is_a_bound_of_threads_all_the_same) {
  world w(1, 1ms);
  std::vector<std::unique_ptr<resolver>> all;
  for (std::size_t i = 0; i <= name_lookups::most_threads; ++i) all.push_back(w.ask("hangs" + std::to_string(i)));
  w.known.await_begun(static_cast<int>(name_lookups::most_threads));
  BOOST_TEST(w.known.lookups().running() == name_lookups::most_threads);
  BOOST_TEST(w.known.lookups().waiting() == 1U);
  w.known.release();
  w.await_answers(name_lookups::most_threads + 1);
}

BOOST_AUTO_TEST_CASE(a_loop_with_a_higher_limit_does_not_wait) {
  world w(1);
  auto hangs = w.ask("hangs");
  w.known.await_begun(1);
  event_loop other(make_default_engine(), clock::system(), {.tuning = {.max_lookups = 2}});
  std::optional<error_code> answered;
  std::optional<resolver> asks;
  other.post([&]() noexcept {
    asks.emplace(other, "name", "7", [&](error_code ec, const auto&) { answered = ec; }, w.known.lookups());
  });
  while (!answered) other.poll();
  BOOST_TEST(!answered->failed());
  w.forget(hangs);
}

// Everything is destroyed while the look-up hangs. It ends later, on a thread that owns what it uses.
BOOST_AUTO_TEST_CASE(no_destructor_waits_for_a_lookup) {
  auto gate = std::make_shared<std::atomic<bool>>(false);
  auto begun = std::make_shared<std::atomic<bool>>(false);
  int called = 0;
  {
    name_lookups lookups([gate, begun](const auto&, const auto&) {
      *begun = true;
      begun->notify_all();
      gate->wait(false);
      return lookup_answer{};
    });
    event_loop loop;
    std::optional<resolver> asks;
    loop.post(
        [&]() noexcept { asks.emplace(loop, "hangs", "7", [&](error_code, const auto&) { ++called; }, lookups); });
    loop.poll();
    begun->wait(false);
  }
  BOOST_TEST(called == 0);
  *gate = true;
  gate->notify_all();
  while (gate.use_count() > 1) std::this_thread::yield();  // the thread has freed its state
}

// The answer may lead to the end of the loop, which the thread of the look-up wakes.
BOOST_AUTO_TEST_CASE(an_answer_waits_until_its_thread_has_left_the_loop) {
  names known(1h);
  testing::watched_engine::journal unused;
  std::atomic<bool> is_waking{false}, has_left{false};
  event_loop loop(std::make_unique<testing::watched_engine>(make_default_engine(), unused,
                                                            [&] {
                                                              is_waking = true;
                                                              std::this_thread::sleep_for(
                                                                  20ms);  // an answer that does not wait comes now
                                                              has_left = true;
                                                            }),
                  clock::system());
  bool had_left = false;
  std::optional<resolver> asks;
  loop.post([&]() noexcept {
    asks.emplace(
        loop, "hangs", "7",
        [&](error_code, const auto&) {
          had_left = !is_waking || has_left;
          loop.stop();
        },
        known.lookups());
  });
  std::thread releasing([&] {
    known.await_begun(1);
    known.release();
  });
  loop.run();
  releasing.join();
  BOOST_TEST(had_left);
}

BOOST_AUTO_TEST_CASE(what_a_lookup_throws_is_the_reason) {
  world w;
  const auto asks = w.ask("no-memory");
  w.await_answers(1);
  BOOST_TEST(w.answers.front() == "no-memory!");
  BOOST_TEST((w.last == boost::system::errc::not_enough_memory));
}

// Each resolver is answered once or destroyed, whichever comes first.
BOOST_AUTO_TEST_CASE(cancelling_meets_the_answer) {
  world w(4);
  std::vector<std::unique_ptr<resolver>> all;
  std::size_t called = 0;
  w.on_loop([&] {
    for (int i = 0; i < 500; ++i) {
      const std::string name = "n" + std::to_string(i % 7);
      all.push_back(std::make_unique<resolver>(
          w.loop, name, "7", [&called](error_code, const auto&) { ++called; }, w.known.lookups()));
      if (i % 3 == 0) all[static_cast<std::size_t>(i) / 2].reset();
    }
  });
  std::size_t alive = 0;
  for (const auto& r : all) alive += r != nullptr;
  while (w.known.lookups().running() > 0 || w.loop.poll()) {
  }
  BOOST_TEST(called >= alive);
  BOOST_TEST(called <= all.size());
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(testing::needs_localhost))
BOOST_AUTO_TEST_CASE(names_of_the_system) {
  event_loop loop;
  std::optional<error_code> known, unknown;
  std::optional<resolver> first, second;
  std::vector<address> addresses;
  loop.post([&]() noexcept {
    first.emplace(loop, "localhost", "81", [&](error_code ec, const std::vector<address>& found) {
      known = ec;
      addresses = found;
    });
    second.emplace(loop, "a..b", "81", [&](error_code ec, const auto&) { unknown = ec; });
  });
  while (!known || !unknown) loop.poll();
  BOOST_TEST(!known->failed());
  BOOST_REQUIRE(!addresses.empty());
  BOOST_TEST(addresses.front().port() == 81);
  BOOST_TEST(unknown->failed());
}

namespace {

/// Looks up a name that hangs and one that does not. The destructors do not wait for the first, nor does the process
/// (without static destructors, since this is a copy of a test program that has open logs).
int exit_while_a_lookup_hangs() {
  event_loop loop;
  int answers = 0;
  bool known = false;
  std::optional<resolver> hangs, localhost;
  loop.post([&]() noexcept {
    hangs.emplace(loop, testing::silent_names::name, "7", [&](error_code, const auto&) { ++answers; });
    localhost.emplace(loop, "localhost", "7", [&](error_code ec, const auto&) {
      ++answers;
      known = !ec;
    });
  });
  while (!known) loop.poll();
  const bool still_hangs = name_lookups::of_process().running() == 1;
  return known && still_hangs && answers == 1 ? 0 : 1;
}

/// As many names hang as may be looked up at once. Another one is answered all the same.
int is_answered_beside_names_that_hang() {
  event_loop loop;
  const std::size_t most = loop.options().tuning.max_lookups;
  std::vector<std::unique_ptr<resolver>> hang;
  std::optional<resolver> localhost;
  bool known = false;
  loop.post([&]() noexcept {
    for (std::size_t i = 0; i < most; ++i)
      hang.push_back(std::make_unique<resolver>(loop, std::to_string(i) + "." + testing::silent_names::name, "7",
                                                [](error_code, const auto&) {}));
    localhost.emplace(loop, "localhost", "7", [&](error_code ec, const auto&) { known = !ec; });
  });
  const auto end = std::chrono::steady_clock::now() + 20s;  // the names hang for longer
  while (!known && std::chrono::steady_clock::now() < end) loop.poll();
  return known && name_lookups::of_process().running() == most ? 0 : 1;
}

}  // namespace

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(testing::needs_silent_names))
BOOST_AUTO_TEST_CASE(a_process_exits_while_its_name_server_is_silent) {
  BOOST_TEST(testing::with_silent_names(&exit_while_a_lookup_hangs) == 0);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(testing::needs_silent_names))
BOOST_AUTO_TEST_CASE(sixteen_names_of_a_silent_server_do_not_delay_another_name) {
  BOOST_TEST(testing::with_silent_names(&is_answered_beside_names_that_hang) == 0);
}

}  // namespace quintet
