// SPDX-License-Identifier: BSL-1.0
// executor_test: a loop's executor of Asio: where functions run, in which order, and what becomes of those that do not.
#include <boost/test/unit_test.hpp>

#include <quintet/net/asio.hpp>
#include <quintet/net/event_loop.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace quintet {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_CASE(dispatch_runs_at_once_and_post_after_the_callback) {
  event_loop loop;
  std::string order;
  loop.post([&] {
    asio::post(loop.get_executor(), [&] { order += "posted "; });
    asio::dispatch(loop.get_executor(), [&] { order += "dispatched "; });
    order += "callback ";
  });
  loop.poll();
  BOOST_TEST(order == "dispatched callback posted ");
}

BOOST_AUTO_TEST_CASE(any_thread_posts) {
  event_loop loop;
  std::promise<bool> ran;
  std::thread serving([&] {
    loop.after(24h, [] {});
    loop.run();
  });
  struct member final : loop_member {
    explicit member(event_loop& l) : loop(l) {}
    void abort() noexcept override { loop.leave(*this); }
    event_loop& loop;
  } stays(loop);
  loop.post([&] { loop.join(stays); });
  asio::post(loop.get_executor(), [&] { ran.set_value(loop.in_this_thread()); });
  BOOST_TEST(ran.get_future().get());
  loop.stop();
  serving.join();
}

BOOST_AUTO_TEST_CASE(functions_that_post_themselves_starve_nobody) {
  event_loop loop;
  int rounds = 0;
  bool others = false;
  std::function<void()> again = [&] {
    ++rounds;
    asio::post(loop.get_executor(), [&] { again(); });
  };
  asio::post(loop.get_executor(), [&] { again(); });
  loop.poll();
  const int in_one_turn = rounds;
  loop.post([&] { others = true; });
  loop.poll();
  BOOST_TEST(in_one_turn > 1);
  BOOST_TEST(in_one_turn <= 65);  // the first one came by the inbox
  BOOST_TEST(others);
}  // the loop destroys the last one, without a call

BOOST_AUTO_TEST_CASE(a_destroyed_loop_destroys_what_it_has_not_called) {
  auto counted = std::make_shared<int>(0);
  {
    event_loop loop;
    loop.post([&] {
      for (int i = 0; i < 100; ++i) asio::post(loop.get_executor(), [counted] { ++*counted; });
    });
    loop.poll();
    BOOST_TEST(*counted == 64);
  }
  BOOST_TEST(*counted == 64);
  BOOST_TEST(counted.use_count() == 1);
}

// As those of post(): all that was queued before the end runs, also what the loop's last items queue.
BOOST_AUTO_TEST_CASE(a_loop_that_stops_runs_what_is_ready) {
  event_loop loop;
  int ran = 0;
  loop.post([&] {
    for (int i = 0; i < 300; ++i) asio::post(loop.get_executor(), [&] { ++ran; });
    loop.stop();
  });
  loop.run();
  BOOST_TEST(loop.finished());
  BOOST_TEST(ran == 300);
  loop.post([&] { asio::post(loop.get_executor(), [&] { ++ran; }); });
  BOOST_TEST(loop.run_left_over());
  BOOST_TEST(ran == 301);
}

BOOST_AUTO_TEST_CASE(what_is_ready_is_work) {
  event_loop loop;
  loop.post([&] {
    for (int i = 0; i < 100; ++i) asio::post(loop.get_executor(), [] {});
  });
  loop.poll();
  BOOST_TEST(loop.has_detached_work());
  loop.poll();
  BOOST_TEST(!loop.has_detached_work());
}

BOOST_AUTO_TEST_CASE(functions_that_post_themselves_keep_no_loop_from_its_end) {
  auto held = std::make_shared<int>(0);
  {
    event_loop loop;
    struct again {
      event_loop* loop;
      std::shared_ptr<int> rounds;
      void operator()() {
        ++*rounds;
        asio::post(loop->get_executor(), again(*this));
      }
    };
    loop.post([&] { asio::post(loop.get_executor(), again{&loop, held}); });
    loop.stop();
    loop.run();
    BOOST_TEST(*held > 0);
    (void)loop.run_left_over();
  }
  BOOST_TEST(held.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(a_destroyed_loop_calls_nothing_that_is_dispatched) {
  bool called = false;
  struct last_word {
    event_loop& loop;
    bool& called;
    last_word(event_loop& l, bool& c) : loop(l), called(c) {}
    ~last_word() {
      asio::dispatch(loop.get_executor(), [&c = called] { c = true; });
    }
  };
  {
    event_loop loop;
    asio::post(loop.get_executor(), [w = std::make_shared<last_word>(loop, called)] {});
  }
  BOOST_TEST(!called);
}

BOOST_AUTO_TEST_CASE(an_exception_is_counted) {
  event_loop loop;
  loop.post([&] { asio::dispatch(loop.get_executor(), [] { throw std::runtime_error("within"); }); });
  asio::post(loop.get_executor(), [] { throw std::runtime_error("later"); });
  loop.poll();
  BOOST_TEST(loop.counters().handler_errors.value() == 2u);
}

// A coroutine that waits for nothing of the io_context must not make the loop poll one.
BOOST_AUTO_TEST_CASE(an_idle_coroutine_is_no_work) {
  event_loop loop;
  std::function<void()> resume;
  bool resumed = false;
  const auto waiting = [&]() -> asio::awaitable<void> {
    co_await asio::async_initiate<const asio::use_awaitable_t<>&, void()>(
        [&](auto handler) {
          resume = [h = std::make_shared<decltype(handler)>(std::move(handler))] { std::move (*h)(); };
        },
        asio::use_awaitable);
    resumed = true;
  };
  loop.post([&] { asio::co_spawn(loop.get_executor(), waiting(), asio::detached); });
  loop.poll();
  BOOST_TEST(!loop.has_detached_work());
  BOOST_TEST(bool(loop.wait_outside().longest > 1h));
  loop.post([&] { resume(); });
  loop.poll();
  BOOST_TEST(resumed);
}

BOOST_AUTO_TEST_CASE(timers_of_asio_complete_on_the_loop) {
  event_loop loop;
  asio::steady_timer timer(loop.get_executor(), 1ms);
  bool here = false;
  timer.async_wait([&](error_code why) { here = !why && loop.in_this_thread(); });
  while (!here) loop.poll();
  BOOST_TEST(here);
}

}  // namespace
}  // namespace quintet
