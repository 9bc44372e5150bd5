// SPDX-License-Identifier: BSL-1.0
// activity_test: a thread answers all watchdogs that ask it, also two at once.
#include <quintet/net/file_descriptor.hpp>
#include <quintet/net/watch/activity.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <thread>
#include <utility>

#include <unistd.h>

using namespace quintet;

namespace {

constexpr std::chrono::seconds patience{60};

/// A thread that is in one call until the test has finished.
class thread_in_a_call {
 public:
  thread_in_a_call() {
    std::array<int, 2> ends{};
    BOOST_REQUIRE(::pipe(ends.data()) == 0);
    waits_for_ = file_descriptor(ends[0]);
    ends_it_ = file_descriptor(ends[1]);
    std::promise<std::shared_ptr<activity>> promise;
    std::future<std::shared_ptr<activity>> of = promise.get_future();
    thread_ = std::thread([this, known = std::move(promise)]() mutable {
      const std::shared_ptr<activity> mine = activity::of_this_thread();
      const callback_scope scope(callback::timer);
      known.set_value(mine);
      char end = 0;
      (void)!::read(waits_for_.get(), &end, 1);
    });
    of_ = of.get();
  }
  ~thread_in_a_call() {
    ends_it_.reset();
    thread_.join();
  }
  thread_in_a_call(const thread_in_a_call&) = delete;
  thread_in_a_call& operator=(const thread_in_a_call&) = delete;

  activity& of() { return *of_; }
  std::uint64_t call() const { return of_->current_call(); }

 private:
  file_descriptor waits_for_, ends_it_;
  std::shared_ptr<activity> of_;
  std::thread thread_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_thread_tells_its_call) {
  thread_in_a_call thread;
  activity::snapshot found;
  BOOST_REQUIRE((thread.of().ask(thread.call(), patience, found) == activity::answer::given));
  BOOST_TEST((found.what == callback::timer));
  BOOST_TEST(!found.stack().empty());
  BOOST_TEST((thread.of().ask(thread.call() + 1, patience, found) == activity::answer::call_ended));
}

// One watchdog asks for the thread's call, the other one for a call that the thread is not in. An exchanged answer is
// wrong, and a watchdog without an answer waits until ctest ends the test.
BOOST_AUTO_TEST_CASE(each_of_two_watchdogs_gets_its_own_answer) {
  thread_in_a_call thread;
  const auto count_wrong = [&thread](std::uint64_t call, activity::answer expected) {
    int wrong = 0;
    for (int i = 0; i < 500; ++i) {
      activity::snapshot found;
      wrong += thread.of().ask(call, patience, found) != expected;
      wrong += expected == activity::answer::given && found.what != callback::timer;
    }
    return wrong;
  };
  auto other = std::async(std::launch::async, count_wrong, thread.call() + 1, activity::answer::call_ended);
  BOOST_TEST(count_wrong(thread.call(), activity::answer::given) == 0);
  BOOST_TEST(other.get() == 0);
}
