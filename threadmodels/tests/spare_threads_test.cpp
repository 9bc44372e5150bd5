// SPDX-License-Identifier: BSL-1.0
// spare_threads_test: idle threads of model 1 stay for new connections, and surplus ones end in time.
#include <boost/test/unit_test.hpp>

#include <quintet/net/asio.hpp>
#include <quintet/threadmodels/placement/placement.hpp>

#include <cstddef>
#include <latch>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <boost/asio/steady_timer.hpp>
#include <boost/system/system_error.hpp>

namespace quintet::test {
namespace {

constexpr std::size_t spare = on_own_loop::spare_threads;

/// The threads are real; the test drives the main loop.
struct fixture {
  explicit fixture(std::size_t max_threads = 4096) : placement(max_threads) {
    main.emplace(make_default_engine(), time);
    placement.start(*main);
  }
  ~fixture() { placement.stop(); }

  void place(std::size_t count) {
    while (placed.size() < count) placed.push_back(&placement.place());
  }
  void release_all() {
    for (event_loop* loop : placed) placement.release(*loop);
    placed.clear();
    main->poll();
  }
  void pass(duration d) {
    time.advance(d);
    main->poll();
  }
  std::size_t threads() const {
    std::size_t counters = 0;
    placement.each_counters([&](const auto&) { ++counters; });
    return counters - 1;  // one set of counters sums up the ended loops
  }

  manual_clock time;
  on_own_loop placement;
  std::optional<event_loop> main;  // destroyed before `placement`, whose items it may hold
  std::vector<event_loop*> placed;
};

/// Runs f() on the loop. The loop completes a turn before this returns.
template <class F>
void run_on(event_loop& loop, F f) {
  for (const bool first : {true, false}) {
    std::latch done(1);
    loop.post([&]() noexcept {
      if (first) f();
      done.count_down();
    });
    done.wait();
  }
}

BOOST_AUTO_TEST_SUITE(spare_threads)

BOOST_AUTO_TEST_CASE(those_that_nobody_needs_end) {
  fixture f;
  f.place(spare + 10);
  f.release_all();
  f.pass(on_own_loop::spare_time / 2);
  BOOST_TEST(f.threads() == spare + 10);
  f.pass(on_own_loop::spare_time / 2);
  BOOST_TEST(f.threads() == spare);
  f.pass(on_own_loop::spare_time);
  BOOST_TEST(f.threads() == spare);
}

BOOST_AUTO_TEST_CASE(those_that_are_needed_again_stay) {
  fixture f;
  f.place(spare + 10);
  f.release_all();
  for (int round = 0; round < 3; ++round) {
    f.place(spare + 8);
    f.release_all();
    f.pass(on_own_loop::spare_time);
  }
  BOOST_TEST(f.threads() == spare + 10);  // two were always idle: as spare threads they stay
  f.pass(on_own_loop::spare_time);
  BOOST_TEST(f.threads() == spare);
}

BOOST_AUTO_TEST_CASE(they_end_a_few_at_a_time) {
  constexpr std::size_t few = on_own_loop::ending_at_once;
  fixture f;
  f.place(spare + 2 * few + 3);
  f.release_all();
  f.pass(on_own_loop::spare_time);
  BOOST_TEST(f.threads() == spare + few + 3);
  f.pass(on_own_loop::ending_interval);
  BOOST_TEST(f.threads() == spare + 3);
  f.pass(on_own_loop::ending_interval);
  BOOST_TEST(f.threads() == spare);
}

BOOST_AUTO_TEST_CASE(who_is_needed_while_others_end_stays) {
  constexpr std::size_t few = on_own_loop::ending_at_once;
  fixture f;
  f.place(spare + 2 * few);
  f.release_all();
  f.pass(on_own_loop::spare_time);
  f.place(spare + few);  // all remaining threads
  f.release_all();
  f.pass(on_own_loop::ending_interval);
  BOOST_TEST(f.threads() == spare + few);
  f.pass(on_own_loop::spare_time);
  BOOST_TEST(f.threads() == spare);
}

BOOST_AUTO_TEST_CASE(they_come_and_go_again_and_again) {
  fixture f;
  for (int round = 0; round < 3; ++round) {
    f.place(spare + 3);
    f.release_all();
    f.pass(on_own_loop::spare_time);
    BOOST_TEST(f.threads() == spare);
  }
}

// Detached work of a handler would be destroyed with the loop.
BOOST_AUTO_TEST_CASE(those_on_which_something_is_left_stay) {
  fixture f;
  f.place(spare + 3);
  event_loop &waits_in_asio = *f.placed[0], &waits_for_a_timer = *f.placed[1];
  const auto held = std::make_shared<int>(0);
  std::optional<boost::asio::steady_timer> asios;
  timer_id timer;
  run_on(waits_in_asio, [&] {
    asios.emplace(waits_in_asio.get_executor(), std::chrono::hours(1));
    asios->async_wait([held](const error_code&) {});
  });
  run_on(waits_for_a_timer, [&] { timer = waits_for_a_timer.after(std::chrono::hours(1), [held] {}); });
  f.release_all();
  f.pass(on_own_loop::spare_time);
  BOOST_TEST(f.threads() == spare);  // three other threads have ended
  BOOST_TEST(held.use_count() == 3);
  BOOST_TEST(waits_for_a_timer.cancel(timer));
  run_on(waits_in_asio, [&] { asios.reset(); });
  run_on(waits_for_a_timer, [] {});
  BOOST_TEST(held.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(they_end_when_nothing_is_left) {
  fixture f;
  f.place(spare + 2);
  std::vector<std::pair<event_loop*, timer_id>> timers;
  for (event_loop* loop : f.placed) timers.emplace_back(loop, loop->after(std::chrono::hours(1), [] {}));
  f.release_all();
  for (int i = 0; i < 3; ++i) {
    f.pass(on_own_loop::spare_time);
    BOOST_TEST(f.threads() == spare + 2);
  }
  for (const auto& [loop, timer] : timers) {
    BOOST_TEST(loop->cancel(timer));
    run_on(*loop, [] {});  // the cancelled timer has left the loop
  }
  f.pass(on_own_loop::spare_time);
  BOOST_TEST(f.threads() == spare);
}

BOOST_AUTO_TEST_CASE(when_it_has_stopped_there_are_no_more) {
  fixture f;
  f.place(1);
  f.placement.stop();
  BOOST_CHECK_THROW(f.placement.place(), boost::system::system_error);
}

BOOST_AUTO_TEST_CASE(at_the_limit_the_idle_ones_are_used) {
  fixture f(2);
  f.place(2);
  BOOST_CHECK_THROW(f.placement.place(), boost::system::system_error);
  f.release_all();
  f.place(2);
  BOOST_TEST(f.threads() == 2U);
}

// Connections may end while the server stops: then the main loop does not check any more.
BOOST_AUTO_TEST_CASE(the_end_may_come_before_the_first_look) {
  fixture f;
  f.place(spare + 2);
  for (event_loop* loop : f.placed) f.placement.release(*loop);
  f.placement.stop();
  f.main.reset();
}

BOOST_AUTO_TEST_CASE(the_end_may_come_before_the_second_look) {
  fixture f;
  f.place(spare + 2);
  f.release_all();
  f.placement.stop();
  f.pass(on_own_loop::spare_time);
  BOOST_TEST(f.threads() == spare + 2);  // stop() has joined them
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace quintet::test
