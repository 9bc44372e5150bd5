// SPDX-License-Identifier: BSL-1.0
// asio_refused_test: the kernel refuses to watch a descriptor of Boost.Asio, which ignores that. Whoever makes the
// io_context learns of it: a loop that nothing can wake, and timers that never fire, must not begin.
#include "forked.hpp"
#include "system_call_trap.hpp"
#include "waiting.hpp"

#include <quintet/net/engine/make_engine.hpp>
#include <quintet/net/event_loop.hpp>
#include <quintet/net/loop/executor.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <thread>

#include <sys/epoll.h>
#include <sys/syscall.h>

namespace quintet::test {
namespace {

namespace bdata = boost::unit_test::data;
using namespace std::chrono_literals;

std::atomic<int> left{-1};  // calls that succeed before one fails; -1: all succeed

long decide(const trapped_call& call) noexcept {
  if (call.arguments[1] == EPOLL_CTL_ADD && left >= 0 && left-- == 0) return -ENOSPC;
  return untrapped(call.number, call.arguments);
}

/// Makes an io_context while the call after `before` others fails. Returns 0 if the maker is told, 1 if not, 2 if no
/// call was made that could fail. A context without a failure must wake its thread.
template <class Make>
int refuse_after(int before, Make make) {
  trap_calls(std::array{long{SYS_epoll_ctl}}, &decide);
  left = before;
  try {
    make();
  } catch (const boost::system::system_error& told) {
    return told.code() == system_error_code(ENOSPC) ? 0 : 3;
  }
  return left >= 0 ? 2 : 1;
}

int runs(event_loop& loop) {
  std::atomic<bool> fired{false};
  boost::asio::steady_timer timer(loop.get_executor(), 1ms);
  timer.async_wait([&](const error_code&) {
    fired = true;
    loop.stop();
  });
  std::thread other([&] { boost::asio::post(loop.get_executor(), [] {}); });
  loop.run();
  other.join();
  return fired ? 0 : 4;
}

boost::test_tools::assertion_result trap_works(boost::unit_test::test_unit_id) { return can_trap(); }

// Asio watches two descriptors: one for wake-ups, one for timers.
BOOST_TEST_DECORATOR(*boost::unit_test::precondition(trap_works))
BOOST_DATA_TEST_CASE(of_the_engine_asio, bdata::xrange(2), before) {
  forked child([&] { return refuse_after(before, [] { const event_loop loop(make_engine(engine_kind::asio)); }); });
  BOOST_TEST(child.wait_for(patience).value_or(99) == 0);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(trap_works))
BOOST_DATA_TEST_CASE(of_a_guest, bdata::xrange(2), before) {
  forked child([&] {
    event_loop loop(make_engine(engine_kind::epoll));
    const int told = refuse_after(before, [&] { (void)loop.get_executor().query(boost::asio::execution::context); });
    left = -1;
    return told != 0 ? told : runs(loop);  // the next attempt may succeed
  });
  BOOST_TEST(child.wait_for(patience).value_or(99) == 0);
}

BOOST_DATA_TEST_CASE(without_a_refusal_it_runs, bdata::make({false, true}), has_guest) {
  event_loop loop(make_engine(has_guest ? engine_kind::epoll : engine_kind::asio));
  BOOST_TEST(runs(loop) == 0);
}

}  // namespace
}  // namespace quintet::test
