// SPDX-License-Identifier: BSL-1.0
// loop_timers_test: after(), every() and cancel(): on a clock that stands still, and from other threads.
#include <quintet/net/loop/loop_thread.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <functional>
#include <latch>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace quintet {
namespace {

using namespace std::chrono_literals;

/// Keeps a loop running until it is told to stop, as a connection would.
struct resident : loop_member {
  explicit resident(event_loop& l) : loop(l) { loop.join(*this); }
  void abort() noexcept override { loop.leave(*this); }
  event_loop& loop;
};

/// A loop that is turned by hand. Times are in milliseconds since the beginning.
struct fixture {
  manual_clock time;
  event_loop loop{make_default_engine(), time};
  std::vector<int> calls;

  int now() const { return static_cast<int>(time.now().time_since_epoch() / 1ms); }
  std::function<void()> note() {
    return [this] { calls.push_back(now()); };
  }
  void turn() {
    while (loop.poll()) {
    }
  }
  /// Calls f() on the loop, where after() and cancel() act at once.
  void on_loop(std::function<void()> f) {
    loop.post([&]() noexcept { f(); });
    turn();
  }
  void advance(int ms) {
    time.advance(std::chrono::milliseconds(ms));
    turn();
  }
  void check(const std::vector<int>& expected) { BOOST_TEST(calls == expected, boost::test_tools::per_element()); }
};

BOOST_FIXTURE_TEST_CASE(after_calls_once_when_the_time_has_passed, fixture) {
  loop.after(10ms, note());  // before the loop has turned
  turn();
  advance(9);
  check({});
  advance(1);
  check({10});
  advance(100);
  check({10});
}

BOOST_FIXTURE_TEST_CASE(no_time_is_the_next_turn, fixture) {
  on_loop([&] {
    loop.after(0ms, note());
    loop.after(-5ms, note());
    check({});  // never from inside after()
  });
  check({0, 0});
}

BOOST_FIXTURE_TEST_CASE(for_ever_is_not_the_past, fixture) {
  time.advance(1h);
  loop.after(duration::max(), note());
  on_loop([&] { loop.after(duration::max(), note()); });
  advance(1'000'000);
  check({});
}

// Times far in the past and in the future, at any time of the clock. The loop waits for the timers that are to come.
BOOST_FIXTURE_TEST_CASE(extreme_times_stop_no_other_timer, fixture) {
  constexpr time_point last = time_point::max() - 1h;
  for (const time_point begin : {time_point::min(), time_point(-1ns), time_point(), time_point(1ns), last}) {
    time.set(begin);
    turn();
    std::string called;
    std::vector<timer_id> all;
    callback_timer most_negative([&called]() noexcept { called += 'n'; });
    callback_timer never([&called]() noexcept { called += '!'; });
    on_loop([&] {
      loop.start(most_negative, duration::min());
      loop.start(never, duration::max());
    });
    all.push_back(loop.after(duration::min(), [&called] { called += 'a'; }));
    all.push_back(loop.after(duration::min() + 1ns, [&called] { called += 'a'; }));
    all.push_back(loop.after(-1ns, [&called] { called += 'a'; }));
    all.push_back(loop.every(duration::max(), [&called] { called += '!'; }));
    all.push_back(loop.every(duration::max() / 2, [&called] { called += '!'; }));
    all.push_back(loop.every(1s, [&called] { called += 'e'; }));
    all.push_back(loop.after(duration::max(), [&called] { called += '!'; }));
    turn();
    std::ranges::sort(called);
    BOOST_TEST(called == "aaan");
    BOOST_TEST((loop.wait_outside().longest == 1s));
    time.advance(1s);
    turn();
    BOOST_TEST(called == "aaane");
    for (const timer_id id : all) loop.cancel(id);
    turn();
    never.cancel();
  }
}

// The clock jumps over nearly all of time: missed calls are skipped, and the rhythm is kept.
BOOST_FIXTURE_TEST_CASE(the_longest_delay_is_one_call, fixture) {
  time.set(time_point::min());
  turn();
  int called = 0;
  const timer_id id = loop.every(1h, [&called] { ++called; });
  turn();
  time.set(time_point::max() - 2h);
  turn();
  BOOST_TEST(called == 1);
  BOOST_TEST((loop.wait_outside().longest <= 1h));
  loop.cancel(id);
}

BOOST_FIXTURE_TEST_CASE(the_time_runs_from_the_call_not_from_when_the_loop_comes_to_it, fixture) {
  loop.after(10ms, note());
  advance(7);
  advance(3);
  check({10});
}

BOOST_FIXTURE_TEST_CASE(every_keeps_its_rhythm, fixture) {
  loop.every(10ms, note());
  turn();
  advance(13);  // late by 3: the next is due at 20 all the same
  advance(6);
  check({13});
  advance(1);
  advance(10);
  check({13, 20, 30});
}

BOOST_FIXTURE_TEST_CASE(beats_that_were_missed_are_skipped, fixture) {
  loop.every(10ms, note());
  turn();
  advance(57);
  check({57});
  advance(2);
  check({57});
  advance(1);
  check({57, 60});
  advance(20);  // at the very moment of a beat: one call, for this one
  check({57, 60, 80});
  advance(10);
  check({57, 60, 80, 90});
}

BOOST_FIXTURE_TEST_CASE(a_slow_call_is_not_followed_by_a_burst, fixture) {
  loop.every(10ms, [&] {
    calls.push_back(now());
    if (calls.size() == 1) time.advance(35ms);  // as long as it takes
  });
  turn();
  advance(10);
  check({10});
  advance(4);
  check({10});
  advance(1);
  check({10, 50});
}

BOOST_FIXTURE_TEST_CASE(a_period_must_be_positive, fixture) {
  BOOST_CHECK_THROW(loop.every(0ms, note()), std::invalid_argument);
  BOOST_CHECK_THROW(loop.every(-1ms, note()), std::invalid_argument);
}

BOOST_FIXTURE_TEST_CASE(a_cancelled_one_is_not_called, fixture) {
  const timer_id before_it_arrived = loop.after(10ms, note());
  BOOST_TEST(loop.cancel(before_it_arrived));
  const timer_id from_elsewhere = loop.after(10ms, note());
  timer_id on_the_loop, periodic;
  on_loop([&] {
    on_the_loop = loop.after(10ms, note());
    periodic = loop.every(10ms, note());
    BOOST_TEST(loop.cancel(on_the_loop));
  });
  BOOST_TEST(loop.cancel(from_elsewhere));
  advance(10);
  check({10});
  BOOST_TEST(loop.cancel(periodic));
  advance(100);
  check({10});
}

// The loop has not seen the cancellation yet, and the timer is due first.
BOOST_FIXTURE_TEST_CASE(one_that_is_cancelled_from_elsewhere_is_not_called_even_if_due_before_the_loop_knows, fixture) {
  const timer_id id = loop.after(10ms, note());
  turn();
  time.advance(10ms);
  BOOST_TEST(loop.cancel(id));
  turn();
  check({});
}

BOOST_FIXTURE_TEST_CASE(a_stale_id_is_harmless, fixture) {
  const timer_id id = loop.after(1ms, note());
  turn();
  advance(1);
  BOOST_TEST(!loop.cancel(id));
  const timer_id other = loop.after(1ms, note());
  BOOST_TEST((id != other));
  BOOST_TEST(!loop.cancel(id));
  BOOST_TEST(!loop.cancel(timer_id()));
  turn();
  advance(1);
  check({1, 2});
  BOOST_TEST(!loop.cancel(other));
  BOOST_TEST(!loop.cancel(other));
}

BOOST_FIXTURE_TEST_CASE(ids_are_values, fixture) {
  std::set<timer_id> ids;
  for (int i = 0; i < 100; ++i) ids.insert(loop.after(1ms, note()));
  BOOST_TEST(ids.size() == 100U);
  BOOST_TEST(!ids.contains(timer_id()));
  for (const timer_id id : ids) BOOST_TEST(loop.cancel(id));
}

BOOST_FIXTURE_TEST_CASE(one_may_cancel_itself, fixture) {
  timer_id once, periodic;
  bool periodic_was_there = false, once_was_there = true;
  once = loop.after(10ms, [&] { once_was_there = loop.cancel(once); });
  periodic = loop.every(10ms, [&, alive = std::make_shared<int>(7)] {
    calls.push_back(now());
    periodic_was_there = loop.cancel(periodic);
    BOOST_TEST(*alive == 7);  // what f holds lives until it returns
  });
  turn();
  advance(10);
  advance(10);
  check({10});
  BOOST_TEST(periodic_was_there);
  BOOST_TEST(!once_was_there);
}

BOOST_FIXTURE_TEST_CASE(one_may_cancel_another_that_is_due_too, fixture) {
  timer_id second;
  loop.after(10ms, [&] { BOOST_TEST(loop.cancel(second)); });
  second = loop.after(10ms, note());
  turn();
  advance(10);
  check({});
}

BOOST_FIXTURE_TEST_CASE(one_may_start_another, fixture) {
  loop.after(10ms, [&] {
    calls.push_back(now());
    loop.after(5ms, note());
  });
  turn();
  advance(10);
  advance(5);
  check({10, 15});
}

BOOST_FIXTURE_TEST_CASE(an_exception_is_counted_and_the_rhythm_goes_on, fixture) {
  loop.after(5ms, [] { throw std::runtime_error("once"); });
  loop.every(10ms, [&] {
    calls.push_back(now());
    throw 42;
  });
  turn();
  for (int i = 0; i < 4; ++i) advance(5);
  check({10, 20});
  BOOST_TEST(loop.counters().handler_errors.value() == 3U);
}

BOOST_FIXTURE_TEST_CASE(what_f_holds_is_freed_when_it_will_not_be_called_again, fixture) {
  const auto held = std::make_shared<int>(0);
  loop.after(1ms, [held] {});
  turn();
  BOOST_TEST(held.use_count() == 2);
  advance(1);
  BOOST_TEST(held.use_count() == 1);
  const timer_id id = loop.every(1ms, [held] {});
  turn();
  loop.cancel(id);
  turn();
  BOOST_TEST(held.use_count() == 1);
  on_loop([&] {
    loop.cancel(loop.after(1ms, [held] {}));
    BOOST_TEST(held.use_count() == 1);  // on the loop: at once
  });
}

/// Tries to use the loop when it is destroyed, as the last owner of something may.
struct last_wish {
  explicit last_wish(event_loop& l) : loop(l) {}
  ~last_wish() {
    BOOST_TEST(loop.in_this_thread());
    loop.after(1h, [] {});
    loop.cancel(timer_id());
  }
  event_loop& loop;
};

BOOST_AUTO_TEST_CASE(a_loop_frees_what_is_pending_when_it_goes) {
  const auto held = std::make_shared<int>(0);
  {
    event_loop loop;
    loop.after(1h, [held] {});
    loop.poll();
    loop.every(1h, [held] {});  // still in the inbox
    const timer_id cancelled = loop.after(1h, [held] {});
    loop.cancel(cancelled);
    loop.after(1h, [held, wish = std::make_shared<last_wish>(loop)] {});
    BOOST_TEST(held.use_count() == 5);
  }
  BOOST_TEST(held.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(a_sleeping_loop_wakes_for_what_another_thread_starts) {
  for (const bool blocking : {false, true}) {
    event_loop loop(blocking ? make_blocking_engine() : make_default_engine());
    const resident r(loop);
    std::latch before(1), twice(2);
    loop.after(1ms, [&] { before.count_down(); });  // before run()
    const loop_thread thread(loop, "qnt-test");
    before.wait();
    std::atomic<bool> here{true};
    const timer_id id = loop.every(1ms, [&, left = 2]() mutable {
      here = here && loop.in_this_thread();
      if (left-- > 0) twice.count_down();
    });
    twice.wait();
    BOOST_TEST(loop.cancel(id));
    BOOST_TEST(here.load());
  }
}

// Each timer is either called or cancelled, never both, whoever comes first; and all are freed.
BOOST_AUTO_TEST_CASE(threads_that_cancel_what_is_being_called_agree_with_the_loop) {
  constexpr int threads = 3, each = 2000;
  std::atomic<int> called{0}, cancelled{0};
  const auto held = std::make_shared<int>(0);
  {
    event_loop loop;
    const resident r(loop);
    const loop_thread running(loop, "qnt-test");
    std::vector<std::thread> others;
    for (int t = 0; t < threads; ++t)
      others.emplace_back([&] {
        for (int i = 0; i < each; ++i) {
          const timer_id once = loop.after(duration((i % 8) * 10'000), [&called, held] { ++called; });
          const timer_id periodic = loop.every(10us, [held] {});
          if (loop.cancel(once)) ++cancelled;
          if (!loop.cancel(periodic)) cancelled -= threads * each;  // must always be there
        }
      });
    for (auto& o : others) o.join();
    std::latch all_due(1);  // later than each of them
    loop.after(1ms, [&] { all_due.count_down(); });
    all_due.wait();
    BOOST_TEST(called + cancelled == threads * each);
  }
  BOOST_TEST(held.use_count() == 1);
}

// Also of a loop that has nothing else to do. Then it needs no timer for that.
BOOST_FIXTURE_TEST_CASE(the_memory_of_a_burst_is_freed_within_seconds, fixture) {
  constexpr std::size_t burst = 500;
  const auto use_at_once = [&] {
    std::vector<cached_buffer> buffers(burst);
    std::vector<byte_chain> chains(burst);
    for (cached_buffer& b : buffers) loop.buffers().allocate(b);
    for (byte_chain& c : chains) loop.chunks().allocate(c);
    for (cached_buffer& b : buffers) loop.buffers().recycle(b);
    for (byte_chain& c : chains) loop.chunks().recycle(c);
  };
  BOOST_TEST(loop.wait_outside().longest == engine::forever);
  on_loop(use_at_once);
  BOOST_TEST(loop.wait_outside().longest == spare_memory::trim_interval);
  for (int second = 0; second < 3; ++second) {  // needed all the time
    on_loop(use_at_once);
    advance(1000);
    BOOST_TEST(loop.wait_outside().longest == spare_memory::trim_interval);
  }
  for (int second = 0; second < 11; ++second) advance(1000);
  BOOST_TEST(loop.wait_outside().longest == engine::forever);
}

}  // namespace
}  // namespace quintet
