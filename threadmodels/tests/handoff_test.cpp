// SPDX-License-Identifier: BSL-1.0
// handoff_test: the wake-ups of a handoff to the pool and back, and what a wrong prediction must not delay.
#include <boost/test/unit_test.hpp>

#include "waiting.hpp"

#include <quintet/net/event_loop.hpp>
#include <quintet/net/loop/post_batch.hpp>
#include <quintet/threadmodels/compute/worker_pool.hpp>

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace quintet::test {
namespace {

struct task : work_item {
  task(bool cheap, std::function<void(task&)> f) : work_item(&task::run), function(std::move(f)) {
    set_facts({.is_measured = cheap});
    note_cost(std::chrono::microseconds(1));
  }
  static void run(work_item& item) noexcept {
    auto& self = static_cast<task&>(item);
    self.function(self);
  }
  /// Returns the item to the loop, as a connection does with its baton.
  void hand_back(event_loop& loop, std::function<void(task&)> then) {
    function = std::move(then);
    post_batch::post(loop, *this);
  }
  std::function<void(task&)> function;
};

struct fixture {
  std::atomic<int> done{0};
  std::deque<task> tasks;

  task& make(bool cheap) {
    return tasks.emplace_back(cheap, [this](task&) { ++done; });
  }
  void submit(worker_pool& pool, bool cheap, int count) {
    for (int i = 0; i < count; ++i) pool.submit(make(cheap));
  }
  bool drive_until(event_loop& loop, const std::function<bool()>& holds) {
    return eventually([&] { return static_cast<void>(loop.poll()), holds(); });
  }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(cheap_items_of_a_turn_go_together, fixture) {
  worker_pool pool({4, 4});
  event_loop loop;
  constexpr int rounds = 100, items = 60;
  for (int round = 1; round <= rounds; ++round) {
    loop.post([&] {
      submit(pool, true, items);
      BOOST_TEST(done == (round - 1) * items);  // not before the end of the turn
    });
    BOOST_TEST(drive_until(loop, [&] { return done == round * items; }));
  }
  BOOST_TEST(pool.statistics().wakes > 0U);
  // One wake-up for each turn. Another one if this thread was preempted for so long that the worker seemed stuck.
  BOOST_TEST(pool.statistics().wakes < 3U * rounds);
}

BOOST_FIXTURE_TEST_CASE(many_do_not_wait_for_the_end_of_the_turn, fixture) {
  worker_pool pool({1, 1});
  event_loop loop;
  bool ran = false;
  loop.post([&] {
    submit(pool, true, pool_submitter::most);
    ran = eventually([&] { return done == static_cast<int>(pool_submitter::most); });
  });
  loop.poll();
  BOOST_TEST(ran);
}

BOOST_FIXTURE_TEST_CASE(others_go_at_once, fixture) {
  worker_pool pool({1, 1});
  event_loop loop;
  bool ran = false;
  loop.post([&] {
    submit(pool, false, 3);
    ran = eventually([&] { return done == 3; });
  });
  loop.poll();
  BOOST_TEST(ran);
}

BOOST_FIXTURE_TEST_CASE(only_what_is_expensive_makes_the_pool_grow, fixture) {
  event_loop loop;
  gate holds;
  worker_pool pool({1, 4});
  loop.post([&] { submit(pool, true, 40); });
  BOOST_TEST(drive_until(loop, [&] { return done == 40; }));
  // A preempted worker may seem stuck, so some growth is possible.
  BOOST_TEST(pool.threads() < 4U);
  for (int i = 0; i < 4; ++i) pool.submit(tasks.emplace_back(false, [&](task&) { done += holds.wait() ? 1 : 0; }));
  BOOST_TEST(holds.await_waiting(4));
  BOOST_TEST(pool.threads() == 4U);
  holds.open();
  BOOST_TEST(eventually([&] { return done == 44; }));
}

// An item that is classified as cheap waits. Those behind it must not wait for it.
BOOST_FIXTURE_TEST_CASE(what_seemed_cheap_and_waits_does_not_hold_up_the_others, fixture) {
  for (const worker_limits limits : {worker_limits{2, 2}, worker_limits{1, 2}}) {
    gate holds;
    std::atomic<bool> opened = false;
    {
      event_loop loop;
      task waits(true, [&](task&) { opened = holds.wait(); });
      worker_pool pool(limits);
      done = 0;
      loop.post([&] {
        pool.submit(waits);
        submit(pool, true, 5);
      });
      BOOST_TEST(drive_until(loop, [&] { return done == 5; }));
      BOOST_TEST(holds.waiting() == 1U);
      // Items of later turns do not wait either.
      loop.post([&] { submit(pool, true, 5); });
      BOOST_TEST(drive_until(loop, [&] { return done == 10; }));
      holds.open();
    }
    BOOST_TEST(opened);
  }
}

BOOST_FIXTURE_TEST_CASE(batons_return_before_something_slow_begins, fixture) {
  event_loop loop;
  gate holds;
  std::atomic<bool> home = false, opened = false;
  const auto comes_home = [&](task&) { home = true; };
  task cheap(true, [&](task& self) { self.hand_back(loop, comes_home); });
  task slow(false, [&](task&) { opened = holds.wait(); });
  worker_pool pool({1, 1});
  pool.submit(cheap);
  pool.submit(slow);
  BOOST_TEST(drive_until(loop, [&] { return home.load(); }));
  holds.open();
}

// A kept baton does not wait for the end of a cheap item that is slow.
BOOST_FIXTURE_TEST_CASE(batons_return_before_what_only_seemed_cheap_ends, fixture) {
  event_loop loop;
  gate holds;
  std::atomic<bool> home = false, opened = false;
  const auto comes_home = [&](task&) { home = true; };
  task cheap(true, [&](task& self) { self.hand_back(loop, comes_home); });
  task waits(true, [&](task&) { opened = holds.wait(); });
  {
    worker_pool pool({1, 1});
    loop.post([&] {
      pool.submit(cheap);
      pool.submit(waits);
    });
    BOOST_TEST(drive_until(loop, [&] { return home.load(); }));
    holds.open();
  }
  BOOST_TEST(opened);
}

BOOST_FIXTURE_TEST_CASE(batons_return_when_the_queue_is_empty, fixture) {
  event_loop loop;
  int home = 0;
  std::deque<task> cheap;
  for (int i = 0; i < 200; ++i)
    cheap.emplace_back(true, [&](task& self) { self.hand_back(loop, [&home](task&) { ++home; }); });
  worker_pool pool({1, 1});
  loop.post([&] {
    for (task& t : cheap) pool.submit(t);
  });
  BOOST_TEST(drive_until(loop, [&] { return home == 200; }));
}

// Posts keep their order, all posts to a loop arrive together, and the rest arrives at the worker's end.
BOOST_AUTO_TEST_CASE(a_batch_of_posts_keeps_the_order) {
  event_loop one, other;
  std::vector<int> came;
  std::deque<task> tasks;
  const auto make = [&](int number) -> task& {
    return tasks.emplace_back(true, [&came, number](task&) { came.push_back(number); });
  };
  {
    const post_batch together;
    post_batch::post(one, make(1));
    post_batch::post(one, make(2));
    one.poll();
    BOOST_TEST(came.empty());
    post_batch::post(other, make(3));
    one.poll();
    BOOST_TEST(came == std::vector<int>({1, 2}));
    other.poll();
    BOOST_TEST(came.size() == 2U);
  }
  other.poll();
  BOOST_TEST(came == std::vector<int>({1, 2, 3}));
  const post_batch together;
  for (unsigned i = 0; i < post_batch::most; ++i) post_batch::post(one, make(4));
  one.poll();
  BOOST_TEST(came.size() == 3U + post_batch::most);
}

BOOST_FIXTURE_TEST_CASE(spinning_workers_find_their_work, fixture) {
  worker_pool pool({2, 2, std::chrono::milliseconds(1)});
  event_loop loop;
  for (int round = 1; round <= 200; ++round) {
    loop.post([&] { submit(pool, round % 2 == 0, 3); });
    BOOST_TEST(drive_until(loop, [&] { return done == 3 * round; }));
  }
}

// A check on the pool is still scheduled when the pool or the loop ends.
BOOST_FIXTURE_TEST_CASE(pools_and_loops_end_in_any_order, fixture) {
  event_loop lasting;
  for (int round = 1; round <= 20; ++round) {
    worker_pool pool({1, 1});
    lasting.post([&] { submit(pool, true, 1); });
    BOOST_TEST(drive_until(lasting, [&] { return done == round; }));
  }
  lasting.poll();
  done = 0;
  worker_pool pool({1, 1});
  for (int round = 1; round <= 20; ++round) {
    std::optional<event_loop> loop(std::in_place);
    loop->post([&] { submit(pool, true, 1); });
    BOOST_TEST(drive_until(*loop, [&] { return done == round; }));
  }
}

}  // namespace quintet::test
