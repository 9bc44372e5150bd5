// SPDX-License-Identifier: BSL-1.0
// event_loop_lifetime_test: loops that never run, run again, and go on another thread, with all that is left on them.
// ctest: EACH_ENGINE
#include <quintet/net/asio.hpp>
#include <quintet/net/loop/loop_thread.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace quintet;
using namespace std::chrono_literals;

namespace {

/// Posts when it is destroyed, to the loop that is going.
struct service {
  explicit service(event_loop& l) : loop(l) {}
  ~service() {
    loop.post([where = said] { *where += "service "; });
  }
  event_loop& loop;
  std::shared_ptr<std::string> said;
};

/// Leaves when it is told to abort, and does what its test wants before.
struct member final : loop_member {
  explicit member(event_loop& l, std::function<void()> f = {}) : loop(l), first(std::move(f)) { loop.join(*this); }
  ~member() {
    if (here) loop.leave(*this);
  }
  void abort() noexcept override {
    BOOST_TEST(here);
    ++told;
    if (first) first();
    if (std::exchange(here, false)) loop.leave(*this);
  }
  event_loop& loop;
  std::function<void()> first;
  bool here = true;
  int told = 0;
};

/// Uses another service while it is destroyed, as one does that gives back what it has borrowed.
struct borrower {
  struct lender {
    explicit lender(event_loop&) {}
    int given_back = 0;
  };
  explicit borrower(event_loop& l) : loop(l) {}
  ~borrower() { ++loop.use<lender>().given_back; }
  event_loop& loop;
};

}  // namespace

// What a connection is closed for may end any other member: a connector, a pool of them.
BOOST_AUTO_TEST_CASE(who_is_told_that_a_loop_stops_may_take_others_away) {
  constexpr std::size_t count = 5;
  for (std::size_t taker = 0; taker < count; ++taker)
    for (std::size_t taken = 0; taken < count; ++taken) {
      event_loop loop;
      std::vector<std::unique_ptr<member>> all;
      for (std::size_t i = 0; i < count; ++i) all.push_back(std::make_unique<member>(loop));
      all[taker]->first = [&] {
        if (taken != taker) all[taken].reset();
      };
      loop.stop();
      loop.run();
      BOOST_TEST(loop.finished());
      for (const auto& m : all)
        if (m) BOOST_TEST(m->told == 1);
    }
}

BOOST_AUTO_TEST_CASE(all_but_one_are_taken_away_by_the_first) {
  event_loop loop;
  std::vector<std::unique_ptr<member>> others;
  const member first(loop, [&] { others.clear(); });
  for (int i = 0; i < 3; ++i) others.push_back(std::make_unique<member>(loop));
  loop.stop();
  loop.run();
  BOOST_TEST(first.told == 1);
  BOOST_TEST(loop.finished());
}

BOOST_AUTO_TEST_CASE(who_joins_while_others_are_told_is_told_too) {
  event_loop loop;
  std::optional<member> late;
  const member first(loop, [&] { late.emplace(loop); });
  loop.stop();
  loop.run();
  BOOST_REQUIRE(late);
  BOOST_TEST(late->told == 1);
}

BOOST_AUTO_TEST_CASE(a_service_may_use_another_while_the_loop_goes) {
  event_loop loop;
  loop.post([&]() noexcept { loop.use<borrower>(); });
  loop.stop();
  loop.run();
}

BOOST_AUTO_TEST_CASE(what_is_left_runs_when_a_loop_goes_that_never_ran) {
  const auto said = std::make_shared<std::string>();
  {
    event_loop loop;
    loop.post([&loop, said]() noexcept {
      *said += loop.in_this_thread() && loop.stopping() ? "first " : "elsewhere ";
      loop.use<service>().said = said;
      loop.post([&loop, said] {
        *said += "second ";
        loop.post([said] { *said += "third "; });
      });
    });
  }
  BOOST_TEST(*said == "first second third service ");
  BOOST_TEST(said.use_count() == 1);
}

// Timers, and what Asio has, are not called: they are destroyed, and may post even then.
BOOST_AUTO_TEST_CASE(what_will_not_happen_is_destroyed) {
  const auto held = std::make_shared<int>(0);
  struct posting {
    event_loop* loop;
    std::shared_ptr<int> count;
    ~posting() {
      if (loop) loop->post([c = count] { ++*c; });
    }
    posting(event_loop* l, std::shared_ptr<int> c) : loop(l), count(std::move(c)) {}
    posting(posting&& other) noexcept : loop(std::exchange(other.loop, nullptr)), count(std::move(other.count)) {}
  };
  {
    event_loop loop;
    loop.after(0s, [held] { *held += 100; });
    loop.every(1ms, [held] { *held += 100; });
    boost::asio::post(loop.get_executor(), [p = posting(&loop, held)] { *p.count += 100; });
    boost::asio::steady_timer timer(loop.get_executor(), 1h);
    timer.async_wait([p = posting(&loop, held)](const error_code&) { *p.count += 100; });
  }
  BOOST_TEST(*held == 2);
  BOOST_TEST(held.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(a_loop_that_has_stopped_runs_no_more) {
  event_loop loop;
  loop.stop();
  loop.run();
  bool ran = false;
  loop.post([&] { ran = true; });
  loop.run();  // once more: what has been posted, and that is all
  BOOST_TEST(ran);
  loop.stop();
  BOOST_TEST(loop.finished());
}

BOOST_AUTO_TEST_CASE(made_run_stopped_and_destroyed_by_four_threads) {
  for (int i = 0; i < 200; ++i) {
    const auto held = std::make_shared<std::atomic<int>>(0);
    std::unique_ptr<event_loop> loop;
    std::thread([&] { loop = std::make_unique<event_loop>(); }).join();
    std::optional<loop_thread> running(std::in_place, *loop, "test-loop");
    std::vector<std::thread> others;
    for (int n = 0; n < 3; ++n)
      others.emplace_back([&, n] {
        loop->after(std::chrono::microseconds(100 * n), [held] { ++*held; });
        boost::asio::post(loop->get_executor(), [held] { ++*held; });
        loop->stop();
      });
    for (std::thread& t : others) t.join();
    running.reset();
    loop->post([held] { ++*held; });
    std::thread([&] { loop.reset(); }).join();
    BOOST_TEST(held.use_count() == 1);
  }
}
