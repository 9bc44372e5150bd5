// SPDX-License-Identifier: BSL-1.0
// elastic_policy_test: when a pool grows and shrinks, on a virtual clock: single decisions, and a simulated pool.
#include <quintet/threadmodels/compute/elastic_policy.hpp>
#include <quintet/threadmodels/compute/queue_ages.hpp>

#include <quintet/base/build/sanitizers.hpp>
#include <quintet/base/error.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <queue>
#include <random>
#include <string_view>
#include <vector>

using namespace std::chrono_literals;
namespace bdata = boost::unit_test::data;

namespace quintet::test {
namespace {

std::string_view said(const std::optional<worker_event>& event) { return event ? to_string(*event) : "nothing"; }

const time_point start = time_point() + 1h;

/// Simulates a pool: threads, queue and clock. Requests arrive at random and take a random time. The policy decides.
class simulated_pool {
 public:
  simulated_pool(worker_limits l, std::uint64_t seed) : limits_(l), policy_(l), random_(seed), threads_(l.min) {
    idle_.assign(l.min, start);
  }

  /// `threads_needed`: how many threads are busy on average.
  void run(double threads_needed, duration service, duration time) {
    const time_point end = now_ + time;
    const std::chrono::duration<double> mean_gap = service / std::max(threads_needed, 1e-9);
    time_point next = now_ + exponential(mean_gap);
    if (threads_needed == 0) next = time_point::max();
    while (true) {
      time_point to = std::min({end, next, ends_.empty() ? time_point::max() : ends_.top(), leaving_time(),
                                queue_.empty() ? time_point::max() : next_look_});
      now_ = to;
      if (to == end) return;
      if (to == next) {
        arrive(service);
        next = now_ + exponential(mean_gap);
      } else if (!ends_.empty() && to == ends_.top()) {
        ends_.pop();
        idle_.push_back(now_);
      } else if (to == leaving_time()) {
        idle_.pop_front();
        if (!policy_.may_leave(now_)) {
          idle_.push_front(now_);  // it is idle again
          continue;
        }
        --threads_;
        ++leaves;
        policy_.note_leaving(now_);
      } else {
        look();
      }
      serve(service);
    }
  }

  [[nodiscard]] unsigned threads() const { return threads_; }
  unsigned growths = 0, leaves = 0;

 private:
  duration exponential(std::chrono::duration<double> mean) {
    return std::chrono::duration_cast<duration>(mean * std::exponential_distribution(1.0)(random_));
  }
  void arrive(duration) {
    if (queue_.empty()) next_look_ = now_ + limits_.queue_latency;
    queue_.push_back(now_);
  }
  void serve(duration service) {
    while (!queue_.empty() && !idle_.empty()) {
      idle_.pop_back();  // the worker that was busy last
      queue_.pop_front();
      begun_ = now_;
      ends_.push(now_ + exponential(service));
    }
  }
  void look() {
    next_look_ = now_ + limits_.queue_latency;
    if (threads_ == limits_.max || !policy_.growth(now_, now_ - queue_.front(), now_ - begun_)) return;
    policy_.note_growth(now_);
    ++growths;
    ++threads_;
    idle_.push_back(now_);
  }
  [[nodiscard]] time_point leaving_time() const {
    return threads_ > limits_.min && !idle_.empty() ? idle_.front() + policy_.idle_time() : time_point::max();
  }

  worker_limits limits_;
  elastic_policy policy_;
  std::mt19937_64 random_;
  unsigned threads_;
  time_point now_ = start, next_look_ = start, begun_ = start;
  std::deque<time_point> idle_;  // since when they are idle; the longest first
  std::deque<time_point> queue_;
  std::priority_queue<time_point, std::vector<time_point>, std::greater<>> ends_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(it_grows_when_work_has_waited_and_one_at_a_time) {
  elastic_policy p({.queue_latency = 500us, .stuck_time = 250ms});
  BOOST_TEST(said(p.growth(start, 499us, 1ms)) == "nothing");
  BOOST_TEST(said(p.growth(start, 500us, 1ms)) == "grown_for_latency");
  p.note_growth(start);
  BOOST_TEST(said(p.growth(start + 499us, 900us, 1ms)) == "nothing");  // the new thread has had no time yet
  BOOST_TEST(said(p.growth(start + 500us, 900us, 1ms)) == "grown_for_latency");
}

BOOST_AUTO_TEST_CASE(it_grows_when_nothing_moves_whatever_may_wait) {
  elastic_policy p({.queue_latency = 10s, .stuck_time = 250ms});
  BOOST_TEST(said(p.growth(start, 249ms, 249ms)) == "nothing");
  BOOST_TEST(said(p.growth(start, 250ms, 250ms)) == "grown_when_stuck");
  p.note_growth(start);
  BOOST_TEST(said(p.growth(start + 249ms, 1s, 1s)) == "nothing");
  BOOST_TEST(said(p.growth(start + 250ms, 1s, 1s)) == "grown_when_stuck");
  BOOST_TEST(said(p.growth(start + 250ms, 1s, 100ms)) == "nothing");  // slow, but not stuck
}

BOOST_AUTO_TEST_CASE(without_a_tolerance_it_grows_at_once) {
  elastic_policy p({.queue_latency = 0us});
  p.note_growth(start);
  BOOST_TEST(said(p.growth(start, 0us, 0us)) == "grown_for_latency");
}

BOOST_AUTO_TEST_CASE(who_is_missed_soon_stays_longer_the_next_time) {
  elastic_policy p({.idle_time = 5s});
  BOOST_TEST((p.idle_time() == 5s));
  p.note_leaving(start);
  p.note_growth(start + 9s);
  BOOST_TEST((p.idle_time() == 10s));
  p.note_growth(start + 9s);  // counts once for the same series
  BOOST_TEST((p.idle_time() == 10s));
  time_point now = start + 9s;
  for (int i = 0; i < 20; ++i) {
    p.note_leaving(now);
    p.note_growth(now);
  }
  BOOST_TEST((p.idle_time() == 5s * elastic_policy::max_idle_factor));
  // Then they leave one by one. The time becomes shorter again if the pool does not grow.
  p.note_leaving(now);
  BOOST_TEST((p.idle_time() == 5s * elastic_policy::max_idle_factor));
  BOOST_TEST(!p.may_leave(now + p.idle_time() - 1ns));
  BOOST_TEST(p.may_leave(now + p.idle_time()));
  p.note_leaving(now += p.idle_time());
  BOOST_TEST((p.idle_time() == 5s * elastic_policy::max_idle_factor * 3 / 4));
  for (int i = 0; i < 20; ++i) p.note_leaving(now += p.idle_time());
  BOOST_TEST((p.idle_time() == 5s));
  BOOST_TEST(p.may_leave(now));
  p.note_growth(now + 2 * p.idle_time());  // too late to show that a thread was missing
  BOOST_TEST((p.idle_time() == 5s));
}

BOOST_AUTO_TEST_CASE(the_longest_times_do_not_overflow) {
  elastic_policy p({.idle_time = duration::max(), .queue_latency = duration::max(), .stuck_time = duration::max()});
  time_point now = start;
  for (int i = 0; i < 20; ++i) {
    p.note_leaving(now);
    p.note_growth(now += 1h);
    BOOST_TEST((p.idle_time() >= 24h * 365));
    BOOST_TEST((p.idle_time() / 100 * 110 > p.idle_time()));
    p.note_leaving(now);
    BOOST_TEST(p.may_leave(now) == false);
  }
  BOOST_TEST(said(p.growth(now, 24h, 24h)) == "nothing");
}

BOOST_AUTO_TEST_CASE(an_overload_begins_once_and_ends_well_below) {
  elastic_policy p({.overload_latency = 500ms});
  BOOST_TEST(said(p.update_load(499ms, false)) == "nothing");
  BOOST_TEST(said(p.update_load(500ms, true)) == "nothing");  // the pool can still grow
  BOOST_TEST(said(p.update_load(500ms, false)) == "overload_begins");
  BOOST_TEST(said(p.update_load(900ms, false)) == "nothing");
  BOOST_TEST(said(p.update_load(250ms, false)) == "nothing");
  BOOST_TEST(p.is_overloaded());
  BOOST_TEST(said(p.update_load(249ms, false)) == "overload_ends");
  BOOST_TEST(!p.is_overloaded());
  elastic_policy patient({.overload_latency = 0s});
  BOOST_TEST(said(patient.update_load(1h, false)) == "nothing");
  BOOST_TEST(!patient.is_late(1h));
}

// The load goes from nothing to more than the maximum, and back: minimum, maximum, minimum.
BOOST_AUTO_TEST_CASE(a_step_of_load) {
  simulated_pool pool({.min = 2, .max = 32}, 1);
  pool.run(0, 2ms, 1min);
  BOOST_TEST(pool.threads() == 2U);
  pool.run(40, 2ms, 10s);
  BOOST_TEST(pool.threads() == 32U);
  pool.run(0, 2ms, 1min);
  BOOST_TEST(pool.threads() == 2U);
  BOOST_TEST(pool.growths == 30U);
  BOOST_TEST(pool.leaves == 30U);
}

// The pool grows, and may shrink if chance made it too large. Then it is stable at every load.
BOOST_DATA_TEST_CASE(no_oscillation_under_a_steady_load, bdata::make({0.3, 1.0, 2.5, 4.0, 6.0, 9.0, 12.0, 15.0}),
                     load) {
  constexpr duration long_enough = sanitized ? 1min : 10min;  // millions of steps
  simulated_pool pool({.min = 1, .max = 16}, 1);
  pool.run(load, 5ms, long_enough);
  BOOST_TEST(pool.threads() >= static_cast<unsigned>(load));
  pool.growths = pool.leaves = 0;
  pool.run(load, 5ms, long_enough);
  BOOST_TEST(pool.growths + pool.leaves <= 12U);  // about one a minute
}

BOOST_AUTO_TEST_CASE(after_a_lasting_change_it_follows) {
  simulated_pool pool({.min = 1, .max = 32}, 7);
  pool.run(20, 5ms, 2min);
  const unsigned many = pool.threads();
  BOOST_TEST(many > 20U);
  pool.run(2, 5ms, 20min);
  BOOST_TEST(pool.threads() < 16U);
}

// Items come and go at random. Each age is compared with the exact one.
BOOST_AUTO_TEST_CASE(ages_are_right_within_a_part_of_the_oldest) {
  std::mt19937_64 random(3);
  queue_ages ages;
  std::deque<time_point> truth;
  time_point now = start;
  bool right = true;  // an assertion for each item would take minutes under a sanitizer
  for (int i = 0; i < 100'000; ++i) {
    now += std::chrono::microseconds(random() % 200);
    const bool filling = i / 10'000 % 2 == 0;  // ages rise to seconds, and fall again
    if (random() % 10 < (filling ? 6U : 3U)) {
      const auto count = 1 + random() % 3;
      ages.push(count, now);
      truth.insert(truth.end(), count, now);
    } else if (!truth.empty()) {
      const duration oldest = now - truth.front();
      const time_point since = ages.pop();
      right = right && since <= truth.front();
      right = right && truth.front() - since <= std::max(duration(queue_ages::finest), oldest / 32);
      truth.pop_front();
    }
    right = right && ages.empty() == truth.empty();
  }
  BOOST_TEST(right);
}

BOOST_AUTO_TEST_CASE(items_that_leave_from_the_middle) {
  std::mt19937 random(2);
  queue_ages ages;
  std::deque<time_point> truth;
  time_point now = start;
  bool right = true;
  duration longest{};  // wait of any first item: the distance of marks follows it
  for (int i = 0; i < 100'000; ++i) {
    now += std::chrono::microseconds(random() % 200);
    if (truth.size() < 100 + random() % 300) {
      const auto count = 1 + random() % 3;
      ages.push(count, now);
      truth.insert(truth.end(), count, now);
      continue;
    }
    const auto place = random() % truth.size();
    const auto wanted = truth.begin() + static_cast<std::ptrdiff_t>(place);
    longest = std::max(longest, now - truth.front());
    const time_point seen = ages.since(place), since = ages.remove(place);
    right = right && seen == since && since <= *wanted;
    right = right && *wanted - since <= std::max(duration(queue_ages::finest), longest / 32);
    truth.erase(wanted);
  }
  while (!truth.empty()) {
    const time_point since = ages.pop();
    right = right && since <= truth.front();
    truth.pop_front();
  }
  BOOST_TEST(right);
  BOOST_TEST(ages.empty());
}

BOOST_AUTO_TEST_CASE(ages_without_end) {
  queue_ages ages;
  time_point now = start;
  for (int i = 0; i < 100'000; ++i) ages.push(1, now += 1ms);  // no item is removed
  BOOST_TEST((ages.oldest() == start + 1ms));
  time_point last = start;
  bool right = true;
  for (int i = 1; i <= 100'000; ++i) {
    const time_point since = ages.pop();
    right = right && since >= last && since <= start + i * 1ms;
    last = since;
  }
  BOOST_TEST(right);
  BOOST_TEST(ages.empty());
  ages.push(1, now += 1s);
  BOOST_TEST((ages.oldest() == now));
}

}  // namespace quintet::test
