// SPDX-License-Identifier: BSL-1.0
// stop_on_signals_test: guards within guards, guards that cannot be made, and a signal that comes while one goes.
#include <quintet/net/stop_on_signals.hpp>

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <stdexcept>
#include <thread>

#include <signal.h>

using namespace quintet;

namespace {

using handler_function = void (*)(int);
handler_function handler_of(int signal) {
  struct sigaction now{};
  BOOST_TEST(::sigaction(signal, nullptr, &now) == 0);
  return now.sa_handler;
}

std::atomic<int> caught{0};
void catch_it(int) { ++caught; }

}  // namespace

BOOST_AUTO_TEST_CASE(the_one_that_was_made_last_is_told) {
  event_loop loop;
  int outer = 0, inner = 0;
  {
    const signal_guard first(loop, {SIGUSR1}, [&] { ++outer; });
    {
      const signal_guard second(loop, {SIGUSR1}, [&] { ++inner; });
      ::raise(SIGUSR1);
      loop.poll();
    }
    ::raise(SIGUSR1);
    loop.poll();
    BOOST_TEST(inner == 1);
    BOOST_TEST(outer == 1);
  }
  BOOST_TEST(handler_of(SIGUSR1) == SIG_DFL);
}

BOOST_AUTO_TEST_CASE(a_second_signal_of_any_kind_has_its_usual_effect) {
  event_loop loop;
  int told = 0;
  const signal_guard guard(loop, {SIGUSR1, SIGUSR2}, [&] { ++told; });
  BOOST_TEST(handler_of(SIGUSR2) != SIG_DFL);
  ::raise(SIGUSR1);
  loop.poll();
  BOOST_TEST(told == 1);
  BOOST_TEST(handler_of(SIGUSR1) == SIG_DFL);
  BOOST_TEST(handler_of(SIGUSR2) == SIG_DFL);
}

BOOST_AUTO_TEST_CASE(one_that_cannot_be_made_leaves_nothing_behind) {
  event_loop loop;
  for (const int impossible : {SIGKILL, 0, -1, 65, 1000}) {
    BOOST_CHECK_THROW(signal_guard(loop, {SIGUSR1, impossible}, [] {}), std::invalid_argument);
    BOOST_TEST(handler_of(SIGUSR1) == SIG_DFL);
  }
}

// One signal for each guard, sent while it goes: a handler that is under way may not write to what is closed by then.
// Who comes too late is caught by what was there before.
BOOST_AUTO_TEST_CASE(signals_while_guards_go) {
  struct sigaction mine{}, before{};
  mine.sa_handler = &catch_it;
  BOOST_TEST(::sigaction(SIGUSR1, &mine, &before) == 0);
  constexpr int guards = 5000;
  std::atomic<int> alive{0}, sent{0};
  std::thread sending([&] {
    for (int i = 1; i <= guards; ++i) {
      while (alive < i) std::this_thread::yield();
      ::raise(SIGUSR1);  // handled by this thread
      sent = i;
    }
  });
  int told = 0;
  event_loop loop;
  for (int i = 1; i <= guards; ++i) {
    {
      const signal_guard guard(loop, {SIGUSR1}, [&] { ++told; });
      alive = i;
      while (i % 3 == 0 && sent < i) std::this_thread::yield();
      loop.poll();
    }
    while (sent < i) std::this_thread::yield();
  }
  sending.join();
  BOOST_TEST(told >= guards / 3);
  BOOST_TEST(told + caught <= guards);
  BOOST_TEST(::sigaction(SIGUSR1, &before, nullptr) == 0);
}
