// SPDX-License-Identifier: BSL-1.0
// work_item_test: queues keep the order, lose nothing, and allow items to destroy or requeue themselves.
#include <quintet/base/work/work_item.hpp>

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace quintet {
namespace {

class job final : public work_item {
 public:
  explicit job(std::function<void(job&)> f) : work_item(&job::run), function_(std::move(f)) {}

 private:
  static void run(work_item& item) noexcept {
    auto& self = static_cast<job&>(item);
    self.function_(self);
  }
  std::function<void(job&)> function_;
};

/// Runs one function, then another one.
class two_faced final : public work_item {
 public:
  explicit two_faced(std::vector<int>& log) : work_item(&two_faced::first, &two_faced::leave), log_(log) {}

 private:
  static void first(work_item& item) noexcept {
    auto& self = static_cast<two_faced&>(item);
    self.log_.push_back(1);
    self.become(&two_faced::second);
  }
  static void second(work_item& item) noexcept { static_cast<two_faced&>(item).log_.push_back(2); }
  static void leave(work_item& item) noexcept { static_cast<two_faced&>(item).log_.push_back(3); }
  std::vector<int>& log_;
};

BOOST_AUTO_TEST_CASE(an_item_may_become_another_function) {
  std::vector<int> log;
  two_faced item(log);
  item();
  item();
  item.hand_off();
  BOOST_TEST(log == (std::vector<int>{1, 2, 3}), boost::test_tools::per_element());
}

/// Counts the runs among the next 160 that may go unmeasured, after one that took `cost`.
int unmeasured_after(duration cost) {
  struct measured final : work_item {
    measured() : work_item([](work_item&) noexcept {}) {}
    using work_item::may_go_unmeasured, work_item::note_cost;
  } item;
  if (item.may_go_unmeasured()) return -1;  // unknown work is measured
  item.note_cost(cost);
  int unmeasured = 0;
  for (int run = 0; run < 160; ++run) unmeasured += item.may_go_unmeasured() ? 1 : 0;
  return unmeasured;
}

BOOST_AUTO_TEST_CASE(work_that_takes_little_is_measured_once_in_sixteen_runs) {
  BOOST_TEST(unmeasured_after(std::chrono::nanoseconds(1)) == 150);
  BOOST_TEST(unmeasured_after(std::chrono::microseconds(16)) == 150);
  BOOST_TEST(unmeasured_after(std::chrono::microseconds(17)) == 0);
}

BOOST_AUTO_TEST_CASE(a_function_for_handing_off_is_optional) {
  job item([](job&) {});
  item.hand_off();
  BOOST_TEST_PASSPOINT();
}

BOOST_AUTO_TEST_CASE(a_fifo_is_first_in_first_out) {
  work_fifo queue;
  BOOST_TEST(queue.empty());
  BOOST_TEST((queue.pop() == nullptr));
  std::deque<job> jobs;
  for (int i = 0; i < 3; ++i) queue.push(jobs.emplace_back([](job&) {}));
  BOOST_TEST(!queue.empty());
  BOOST_TEST((queue.pop() == &jobs[0]));
  queue.push(jobs[0]);  // again, at the end
  BOOST_TEST((queue.pop() == &jobs[1]));
  BOOST_TEST((queue.pop() == &jobs[2]));
  BOOST_TEST((queue.pop() == &jobs[0]));
  BOOST_TEST((queue.pop() == nullptr));
  BOOST_TEST(queue.empty());
  queue.push(jobs[1]);
  BOOST_TEST((queue.pop() == &jobs[1]));
  BOOST_TEST(queue.empty());
}

BOOST_AUTO_TEST_CASE(an_inbox_runs_in_the_order_of_pushing) {
  mpsc_inbox inbox;
  BOOST_TEST(inbox.empty());
  BOOST_TEST(!inbox.run_all());
  std::vector<int> order;
  std::deque<job> jobs;
  for (int i = 0; i < 5; ++i) inbox.push(jobs.emplace_back([&order, i](job&) { order.push_back(i); }));
  BOOST_TEST(!inbox.empty());
  BOOST_TEST(inbox.run_all());
  BOOST_TEST(inbox.empty());
  BOOST_TEST(order == (std::vector<int>{0, 1, 2, 3, 4}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_is_pushed_while_it_runs_waits_for_the_next_time) {
  mpsc_inbox inbox;
  int runs = 0;
  job again([&](job& self) {
    ++runs;
    inbox.push(self);
  });
  inbox.push(again);
  for (int i = 1; i <= 3; ++i) {
    BOOST_TEST(inbox.run_all());
    BOOST_TEST(runs == i);
    BOOST_TEST(!inbox.empty());
  }
}

BOOST_AUTO_TEST_CASE(an_item_may_destroy_itself) {
  mpsc_inbox inbox;
  int destroyed = 0;
  struct mortal final : work_item {
    explicit mortal(int& n) : work_item(&mortal::run), count(n) {}
    static void run(work_item& item) noexcept {
      const std::unique_ptr<mortal> self(static_cast<mortal*>(&item));
      ++self->count;
    }
    int& count;
  };
  for (int i = 0; i < 3; ++i) inbox.push(*std::make_unique<mortal>(destroyed).release());
  inbox.run_all();
  BOOST_TEST(destroyed == 3);
}

// Each producer's items arrive in order and exactly once. The consumer sees all writes before the push.
BOOST_AUTO_TEST_CASE(many_producers_one_consumer) {
  constexpr std::size_t producers = 4;
  constexpr int each = 20'000;
  struct message final : work_item {
    message(std::vector<int>& s, std::size_t w, int n) : work_item(&message::run), seen(s), who(w), number(n) {}
    static void run(work_item& item) noexcept {
      auto& self = static_cast<message&>(item);
      self.in_order = self.seen[self.who] + 1 == self.number;
      self.seen[self.who] = self.number;
    }
    std::vector<int>& seen;
    std::size_t who;
    int number;
    bool in_order = false;
  };
  mpsc_inbox inbox;
  std::vector<int> seen(producers, -1);  // only the consumer uses it
  std::vector<std::deque<message>> messages(producers);
  std::atomic<std::size_t> finished{0};
  std::vector<std::thread> threads;
  for (std::size_t who = 0; who < producers; ++who) {
    threads.emplace_back([&, who] {
      for (int n = 0; n < each; ++n) inbox.push(messages[who].emplace_back(seen, who, n));
      ++finished;
    });
  }
  while (finished < producers) inbox.run_all();
  inbox.run_all();
  for (std::thread& t : threads) t.join();
  std::size_t in_order = 0;
  for (const auto& of_one : messages)
    for (const message& m : of_one) in_order += m.in_order;
  BOOST_TEST(in_order == producers * each);
  BOOST_TEST(inbox.empty());
}

}  // namespace
}  // namespace quintet
