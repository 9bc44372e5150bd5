// SPDX-License-Identifier: BSL-1.0
// timer_queue_test: timers fire in the order of their deadlines, and may start, cancel or destroy each other then.
#include <quintet/base/work/timer_queue.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <vector>

namespace quintet {
namespace {

using namespace std::chrono_literals;
using simple = callback_timer<std::function<void()>>;

time_point at(int ms) { return time_point() + std::chrono::milliseconds(ms); }

struct fixture {
  timer_queue queue;
  std::vector<int> fired;
  std::deque<simple> timers;
  simple& add(int id, int deadline) {
    simple& t = timers.emplace_back([this, id] { fired.push_back(id); });
    queue.start(t, at(deadline));
    return t;
  }
  void check(const std::vector<int>& expected) { BOOST_TEST(fired == expected, boost::test_tools::per_element()); }
};

BOOST_FIXTURE_TEST_CASE(an_empty_queue_has_nothing_to_do, fixture) {
  BOOST_TEST(queue.empty());
  BOOST_TEST((queue.next() == time_point::max()));
  BOOST_TEST(queue.expire(at(1000)) == 0u);
}

BOOST_FIXTURE_TEST_CASE(in_the_order_of_deadlines, fixture) {
  add(3, 30);
  add(1, 10);
  add(2, 20);
  BOOST_TEST((queue.next() == at(10)));
  BOOST_TEST(queue.expire(at(9)) == 0u);
  BOOST_TEST(queue.expire(at(10)) == 1u);  // a timer fires at its exact deadline
  BOOST_TEST((queue.next() == at(20)));
  BOOST_TEST(queue.expire(at(100)) == 2u);
  BOOST_TEST(queue.empty());
  check({1, 2, 3});
}

BOOST_FIXTURE_TEST_CASE(of_one_instant_in_the_order_of_starting, fixture) {
  for (int i = 0; i < 5; ++i) add(i, 10);
  queue.expire(at(10));
  check({0, 1, 2, 3, 4});
}

BOOST_FIXTURE_TEST_CASE(a_timer_knows_its_state, fixture) {
  simple& t = add(1, 10);
  BOOST_TEST(t.pending());
  BOOST_TEST((t.deadline() == at(10)));
  queue.expire(at(10));
  BOOST_TEST(!t.pending());
  t.cancel();  // has no effect
  BOOST_TEST(!t.pending());
}

BOOST_FIXTURE_TEST_CASE(one_that_is_cancelled_does_not_fire, fixture) {
  add(1, 10);
  simple& t = add(2, 20);
  add(3, 30);
  t.cancel();
  BOOST_TEST(!t.pending());
  BOOST_TEST(queue.expire(at(100)) == 2u);
  check({1, 3});
}

BOOST_FIXTURE_TEST_CASE(starting_again_moves_it, fixture) {
  simple& t = add(1, 10);
  add(2, 20);
  queue.start(t, at(30));
  BOOST_TEST((queue.next() == at(20)));
  BOOST_TEST(queue.expire(at(29)) == 1u);
  queue.start(t, at(5));  // an earlier deadline, in the past
  BOOST_TEST(queue.expire(at(29)) == 1u);
  check({2, 1});
}

BOOST_FIXTURE_TEST_CASE(destruction_takes_it_out, fixture) {
  {
    simple gone([this] { fired.push_back(99); });
    queue.start(gone, at(10));
    BOOST_TEST(!queue.empty());
  }
  BOOST_TEST(queue.empty());
  BOOST_TEST(queue.expire(at(100)) == 0u);
  check({});
}

BOOST_FIXTURE_TEST_CASE(one_may_cancel_another_that_is_due_too, fixture) {
  simple canceller([this] { timers.back().cancel(); });
  queue.start(canceller, at(10));
  add(1, 10);
  add(2, 10);  // the one to cancel
  BOOST_TEST(queue.expire(at(10)) == 2u);
  check({1});
}

BOOST_FIXTURE_TEST_CASE(one_may_destroy_another_that_is_due_too, fixture) {
  auto victim = std::make_unique<simple>([this] { fired.push_back(99); });
  simple killer([&] { victim.reset(); });
  queue.start(killer, at(10));
  queue.start(*victim, at(10));
  add(1, 10);
  BOOST_TEST(queue.expire(at(10)) == 2u);
  check({1});
}

BOOST_FIXTURE_TEST_CASE(one_may_destroy_itself, fixture) {
  std::unique_ptr<simple> self;
  self = std::make_unique<simple>([&] {
    fired.push_back(7);
    std::unique_ptr<simple>* where = &self;  // captured references are destroyed with the timer
    where->reset();
  });
  queue.start(*self, at(10));
  BOOST_TEST(queue.expire(at(10)) == 1u);
  BOOST_TEST(!self);
  check({7});
}

// Otherwise a timer that restarts itself at once would block its loop forever.
BOOST_FIXTURE_TEST_CASE(one_that_starts_itself_again_waits_for_the_next_call, fixture) {
  int count = 0;
  std::unique_ptr<simple> t;
  t = std::make_unique<simple>([&] {
    ++count;
    queue.start(*t, at(0));
  });
  queue.start(*t, at(0));
  add(1, 5);
  BOOST_TEST(queue.expire(at(10)) == 2u);  // the other timer fires, too
  BOOST_TEST(count == 1);
  BOOST_TEST(queue.expire(at(10)) == 1u);
  BOOST_TEST(count == 2);
  check({1});
}

BOOST_FIXTURE_TEST_CASE(one_may_start_another, fixture) {
  simple& second = timers.emplace_back([this] { fired.push_back(2); });
  simple first([&] { queue.start(second, at(20)); });
  queue.start(first, at(10));
  BOOST_TEST(queue.expire(at(15)) == 1u);
  BOOST_TEST((queue.next() == at(20)));
  BOOST_TEST(queue.expire(at(20)) == 1u);
  check({2});
}

// Compares with a sorted list.
BOOST_AUTO_TEST_CASE(random_operations_agree_with_a_sorted_list) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    constexpr std::size_t count = 50;
    timer_queue queue;
    std::vector<std::size_t> fired;
    std::deque<simple> timers;
    for (std::size_t i = 0; i < count; ++i) timers.emplace_back([&fired, i] { fired.push_back(i); });
    std::vector<std::pair<time_point, std::size_t>> expected;  // deadline and timer, sorted by deadline, then by start
    const auto forget = [&](std::size_t i) { std::erase_if(expected, [i](const auto& e) { return e.second == i; }); };
    int now = 0;
    for (int step = 0; step < 1000; ++step) {
      const std::size_t i = random() % count;
      const auto what = random() % 10;
      if (what < 6) {
        forget(i);
        const time_point when = at(now + static_cast<int>(random() % 40));
        const auto later = std::ranges::find_if(expected, [when](const auto& e) { return e.first > when; });
        expected.emplace(later, when, i);
        queue.start(timers[i], when);
      } else if (what < 8) {
        forget(i);
        timers[i].cancel();
      } else {
        now += static_cast<int>(random() % 10);
        const auto due = std::ranges::find_if(expected, [&](const auto& e) { return e.first > at(now); });
        std::vector<std::size_t> should;
        for (auto e = expected.begin(); e != due; ++e) should.push_back(e->second);
        expected.erase(expected.begin(), due);
        fired.clear();
        BOOST_REQUIRE(queue.expire(at(now)) == should.size());
        BOOST_REQUIRE(fired == should);
      }
      const auto next = std::ranges::min_element(expected);
      BOOST_REQUIRE((queue.next() == (next == expected.end() ? time_point::max() : next->first)));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_manual_clock_moves_when_it_is_told) {
  manual_clock clock;
  const time_point start = clock.now();
  BOOST_TEST((clock.now() == start));
  clock.advance(5ms);
  BOOST_TEST((clock.now() - start == 5ms));
  clock.set(start);
  BOOST_TEST((clock.now() == start));
}

BOOST_AUTO_TEST_CASE(the_systems_clock_does_not_go_back) {
  const time_point before = std::chrono::steady_clock::now();
  const time_point now = clock::system().now();
  const time_point after = std::chrono::steady_clock::now();
  BOOST_TEST((before <= now && now <= after));
}

}  // namespace
}  // namespace quintet
