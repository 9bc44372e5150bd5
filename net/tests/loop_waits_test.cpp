// SPDX-License-Identifier: BSL-1.0
// loop_waits_test: how long a loop tells its engine to wait, in generated sequences of timers, posts and deferred work
// that take time and read it. The clock is held by hand; the engine only checks.
#include "scripted_engine.hpp"

#include <quintet/net/loop/event_loop.hpp>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <memory>
#include <random>
#include <set>
#include <vector>

using namespace quintet;
using namespace std::chrono_literals;
namespace bdata = boost::unit_test::data;

namespace {

class sequence {
 public:
  explicit sequence(int seed) : random_(static_cast<std::uint64_t>(seed)) {
    io_.polls = [this](duration longest) { return poll(longest); };
    for (int i = 0; i < 4; ++i) start_timer();
  }
  void run() { loop_.run(); }

 private:
  struct task final : timer {
    explicit task(sequence& s) : in(s) {}
    void expired() noexcept override { in.expired(*this); }
    sequence& in;
    std::multiset<time_point>::iterator due{};
  };
  struct deferred_step final : work_item {
    explicit deferred_step(sequence& s) : work_item(&deferred_step::run_one), in(s) {}
    static void run_one(work_item& item) noexcept {
      const std::unique_ptr<deferred_step> self(&static_cast<deferred_step&>(item));
      self->in.act();
    }
    sequence& in;
  };
  struct resident : loop_member {
    explicit resident(event_loop& l) : loop(l) { loop.join(*this); }
    void abort() noexcept override { loop.leave(*this); }
    event_loop& loop;
  };

  int below(int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(random_); }
  duration some_time() { return below(3) == 0 ? duration::zero() : below(5'000) * 1us; }

  void start_timer() {
    timers_.push_back(std::make_unique<task>(*this));
    task& fresh = *timers_.back();
    const duration after = some_time();
    loop_.start(fresh, after);
    fresh.due = due_.insert(fresh.deadline());
  }
  void expired(task& t) noexcept {
    BOOST_TEST((t.deadline() <= time_.now()));
    due_.erase(t.due);
    act();
  }
  /// What a handler does: takes time, reads the time, and leaves work of each kind.
  void act() noexcept {
    if (++acts_ >= most_acts) return loop_.stop();
    if (below(2) == 0) time_.advance(some_time());
    if (below(4) == 0) loop_.invalidate_now();
    if (below(2) == 0) (void)loop_.now();
    if (due_.size() < 20 && below(2) == 0) start_timer();
    if (below(4) == 0) loop_.post([this]() noexcept { act(); });
    if (below(4) == 0) loop_.defer(*new deferred_step(*this));
    if (below(2) == 0) (void)loop_.now();
    if (due_.size() < 2) start_timer();
  }
  /// Stands for the kernel: time passes, and another thread may post.
  bool poll(duration longest) {
    const duration left = std::max(duration::zero(), between(time_.now(), *due_.begin()));
    BOOST_TEST((longest >= duration::zero()));
    BOOST_TEST((longest <= left));
    time_.advance(below(3) == 0 ? longest : longest / (1 + below(4)));
    if (below(3) == 0) loop_.post([this]() noexcept { act(); });
    if (below(3) == 0) {  // as a channel's callback
      act();
      loop_.invalidate_now();
    }
    return true;
  }

  static constexpr int most_acts = 2'000;
  std::mt19937_64 random_;
  manual_clock time_;
  testing::scripted_engine::journal io_;
  event_loop loop_{std::make_unique<testing::scripted_engine>(io_), time_};
  resident here_{loop_};
  std::multiset<time_point> due_;
  std::vector<std::unique_ptr<task>> timers_;
  int acts_ = 0;
};

}  // namespace

BOOST_DATA_TEST_CASE(no_wait_is_negative_or_longer_than_the_next_timer, bdata::xrange(50), seed) {
  sequence all(seed);
  all.run();
}
