// SPDX-License-Identifier: BSL-1.0
// thread_scheduling_test: the reported scheduling is the kernel's, and threads that the thread starts do not inherit
// it.
#include <quintet/net/server/thread_scheduling.hpp>

#include <boost/test/unit_test.hpp>

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

namespace quintet {
namespace {

struct finding {
  thread_scheduling got;
  int policy = -1, nice = 0;
  int childs_policy = -1, childs_nice = 0;
};

int policy_here() { return ::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK; }
int nice_here() { return ::getpriority(PRIO_PROCESS, 0); }  // on Linux: the thread's value

finding ask(priority_scheduling wanted) {
  finding f;
  std::thread([&] {
    f.got = schedule_this_thread(wanted);
    f.policy = policy_here();
    f.nice = nice_here();
    std::thread([&] {
      f.childs_policy = policy_here();
      f.childs_nice = nice_here();
    }).join();
  }).join();
  return f;
}

BOOST_AUTO_TEST_CASE(what_it_says_is_what_the_kernel_says) {
  for (const priority_scheduling wanted : enumerators<priority_scheduling>) {
    const finding f = ask(wanted);
    BOOST_TEST_CONTEXT(to_string(wanted) << ": " << to_string(f.got)) {
      BOOST_TEST((f.policy == SCHED_RR) == f.got.real_time);
      const bool asked_for_nice =
          wanted == priority_scheduling::short_slice || wanted == priority_scheduling::automatic;
      if (!f.got.real_time) BOOST_TEST(f.nice == (asked_for_nice ? f.got.nice : nice_here()));
      BOOST_TEST(f.childs_policy == SCHED_OTHER);
      BOOST_TEST(f.childs_nice >= std::min(nice_here(), 0));  // the kernel resets it to 0, even if the process is nice
    }
  }
}

BOOST_AUTO_TEST_CASE(it_asks_for_no_more_than_it_is_told) {
  BOOST_TEST(to_string(ask(priority_scheduling::none).got) == "ordinary");
  BOOST_TEST(!ask(priority_scheduling::short_slice).got.real_time);
  const thread_scheduling real_time = ask(priority_scheduling::real_time).got;
  BOOST_TEST((real_time.slice == duration::zero()));
  BOOST_TEST(real_time.real_time == !real_time.real_time_refused);
}

BOOST_AUTO_TEST_CASE(automatic_falls_back_only_where_it_has_to) {
  const thread_scheduling got = ask(priority_scheduling::automatic).got;
  if (got.real_time)
    BOOST_TEST((got.slice == duration::zero() && !got.slice_refused && !got.nice_refused));
  else
    BOOST_TEST((got.slice > duration::zero() || got.slice_refused));
}

BOOST_AUTO_TEST_CASE(who_is_held_back_is_ordinary) {
  int policy = -1, nice = -100;
  thread_scheduling got;
  std::thread([&] {
    const int before = nice_of_this_thread();
    (void)schedule_this_thread(priority_scheduling::automatic);
    got = demote_this_thread(before);
    policy = policy_here();
    nice = nice_here();
  }).join();
  BOOST_TEST(policy == SCHED_OTHER);
  BOOST_TEST(nice == nice_here());
  BOOST_TEST(got.held_back);
  BOOST_TEST(!got.preferred());
}

BOOST_AUTO_TEST_CASE(a_thread_is_preferred_while_it_uses_a_part_of_a_cpu) {
  using namespace std::chrono_literals;
  priority_throttle p;
  BOOST_TEST((p.update(0ms, 1s) == priority_throttle::idle_interval));
  BOOST_TEST((p.update(25ms, 100ms) == priority_throttle::interval));
  BOOST_TEST(p.granted());
  BOOST_TEST((p.update(26ms, 100ms) == priority_throttle::shortest_pause));
  BOOST_TEST(!p.granted());
  BOOST_TEST((p.update(0ms, priority_throttle::shortest_pause) == priority_throttle::interval));  // preferred again
  BOOST_TEST(p.granted());
}

BOOST_AUTO_TEST_CASE(who_floods_on_is_preferred_for_a_hundredth_of_the_time) {
  priority_throttle p;
  duration preferred{}, held_back{}, step{};
  for (int i = 0; i < 1000; ++i) {
    const bool before = p.granted();
    step = p.update(before ? step : step / 2, step + duration(1));
    (p.granted() ? preferred : held_back) += step;
  }
  BOOST_TEST((preferred < held_back / 50));
  // After the flood, pauses soon are as short as before.
  for (int i = 0; i < 20; ++i) step = p.update(duration::zero(), step);
  BOOST_TEST((step == priority_throttle::idle_interval));
  BOOST_TEST((p.update(step, step) == priority_throttle::shortest_pause));
}

BOOST_AUTO_TEST_CASE(a_text_says_what_was_got_and_what_was_refused) {
  const error_code no(EPERM, boost::system::system_category());
  BOOST_TEST(to_string(thread_scheduling{.real_time = true}) == "SCHED_RR");
  BOOST_TEST(to_string(thread_scheduling{
                 .slice = std::chrono::microseconds(100), .real_time_refused = no, .nice_refused = no}) ==
             "ordinary, slices of 100 us; refused: SCHED_RR (" + no.message() + "), nice (" + no.message() + ")");
  BOOST_TEST(to_string(thread_scheduling{.nice = -10}) == "ordinary, nice -10");
}

BOOST_AUTO_TEST_CASE(names) {
  for (const priority_scheduling s : enumerators<priority_scheduling>)
    BOOST_TEST((from_string<priority_scheduling>(to_string(s)) == s));
  BOOST_TEST(!from_string<priority_scheduling>("rr"));
}

}  // namespace
}  // namespace quintet
