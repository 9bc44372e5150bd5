// SPDX-License-Identifier: BSL-1.0
// event_loop_test: posts, stops, timers and the guest io_context, on the real engines.
// ctest: EACH_ENGINE
#include "watched_engine.hpp"

#include <quintet/net/asio.hpp>
#include <quintet/net/engine/wake_event.hpp>
#include <quintet/net/loop/loop_thread.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <latch>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

using namespace quintet;
using namespace quintet::testing;
using namespace std::chrono_literals;
namespace bdata = boost::unit_test::data;

namespace {

std::unique_ptr<engine> make(bool blocking) { return blocking ? make_blocking_engine() : make_default_engine(); }

/// Keeps a loop running until it is told to stop, as a connection would.
struct resident : loop_member {
  explicit resident(event_loop& l) : loop(l) { loop.join(*this); }
  void abort() noexcept override { loop.leave(*this); }
  event_loop& loop;
};

/// Posts a stop to its loop when its descriptor is readable.
struct posting_channel final : event_channel {
  explicit posting_channel(event_loop& l) noexcept : loop(l) {}
  void on_event() override {
    if (!std::exchange(posted, true)) loop.post([this]() noexcept { loop.stop(), ran = true; });
  }
  event_loop& loop;
  bool posted = false, ran = false;
};

}  // namespace

BOOST_DATA_TEST_CASE(stop_before_run_is_obeyed, bdata::make({false, true}), blocking) {
  event_loop loop(make(blocking));
  const resident r(loop);
  loop.stop();
  loop.run();
  BOOST_TEST(loop.finished());
}

BOOST_DATA_TEST_CASE(posts_from_many_threads_all_run_in_order_on_the_loop, bdata::make({false, true}), blocking) {
  event_loop loop(make(blocking));
  const resident r(loop);
  constexpr int threads = 4, each = 5000;
  std::vector<int> last(threads, -1);
  bool in_order = true, on_loop = true;
  int left = threads * each;
  std::vector<std::thread> posters;
  for (int t = 0; t < threads; ++t)
    posters.emplace_back([&, t] {
      for (int i = 0; i < each; ++i)
        loop.post([&, t, i]() noexcept {
          in_order &= std::exchange(last[static_cast<std::size_t>(t)], i) == i - 1;
          on_loop &= loop.in_this_thread();
          if (--left == 0) loop.stop();
        });
    });
  loop.run();
  for (auto& p : posters) p.join();
  BOOST_TEST(in_order);
  BOOST_TEST(on_loop);
  BOOST_TEST(left == 0);
}

BOOST_DATA_TEST_CASE(a_post_wakes_a_sleeping_loop_every_time, bdata::make({false, true}), blocking) {
  event_loop loop(make(blocking));
  const resident r(loop);
  loop_thread thread(loop, "qnt-test");
  for (int i = 0; i < 2000; ++i) {
    std::latch done(1);
    loop.post([&]() noexcept { done.count_down(); });
    done.wait();  // a lost wake-up would hang here
  }
}

BOOST_AUTO_TEST_CASE(posts_and_stops_of_the_loops_own_thread_wake_nobody) {
  watched_engine::journal offered;
  int wakes = 0;
  event_loop loop(std::make_unique<watched_engine>(make_default_engine(), offered, [&] { ++wakes; }));
  const resident r(loop);
  posting_channel c(loop);
  wake_event ready(EFD_NONBLOCK);
  BOOST_REQUIRE(!loop.io().add(c, ready.descriptor().get()));
  ready.raise();
  loop.run();
  BOOST_TEST(c.ran);
  BOOST_TEST(wakes == 0);
  (void)loop.io().remove(c);
}

BOOST_DATA_TEST_CASE(asio_work_runs_on_the_loop_from_wherever_it_is_posted, bdata::make({false, true}), blocking) {
  event_loop loop(make(blocking));
  const resident r(loop);
  loop_thread thread(loop, "qnt-test");
  for (int i = 0; i < 1000; ++i) {
    std::latch done(1);
    bool here = false;
    boost::asio::post(loop.get_executor(), [&] {
      here = loop.in_this_thread();
      done.count_down();
    });
    done.wait();
    BOOST_REQUIRE(here);
  }
}

BOOST_DATA_TEST_CASE(asio_timers_and_posts_reach_a_loop_that_waits_in_the_guest, bdata::make({false, true}), blocking) {
  event_loop loop(make(blocking));
  const resident r(loop);
  loop_thread thread(loop, "qnt-test");
  std::latch fired(1);
  std::optional<boost::asio::steady_timer> never, soon;
  loop.post([&]() noexcept {
    never.emplace(loop.get_executor(), 1h);  // keeps the guest active
    never->async_wait([](const error_code&) {});
    soon.emplace(loop.get_executor(), 1ms);
    soon->async_wait([&](const error_code&) { fired.count_down(); });
  });
  fired.wait();
  for (int i = 0; i < 500; ++i) {
    std::latch done(1);
    loop.post([&]() noexcept { done.count_down(); });
    done.wait();
  }
  std::latch gone(1);
  loop.post([&]() noexcept {
    never.reset();
    soon.reset();
    gone.count_down();
  });
  gone.wait();
}

BOOST_DATA_TEST_CASE(timers_fire_in_order_and_a_cancelled_one_does_not, bdata::make({false, true}), blocking) {
  event_loop loop(make(blocking));
  const resident r(loop);
  std::string order;
  callback_timer second([&]() noexcept { order += '2'; });
  callback_timer first([&]() noexcept { order += '1'; });
  callback_timer never([&]() noexcept { order += 'x'; });
  callback_timer last([&]() noexcept { loop.stop(); });
  loop.start(last, 3ms);
  loop.start(never, 2ms);
  loop.start(second, 2ms);
  loop.start(first, 1ms);
  never.cancel();
  loop.run();
  BOOST_TEST(order == "12");
}

namespace {

/// Posts itself again and again, as a coroutine does that yields by asio::post, until it is told to end.
struct chain {
  static constexpr int far_too_many = 300'000;
  void begin() {
    boost::asio::post(loop.get_executor(), [this] {
      if (++links < far_too_many && !ends) begin();
    });
  }
  event_loop& loop;
  int links = 0;
  bool ends = false;
};

void others_have_their_turn(event_loop& loop) {
  const resident r(loop);
  chain posting{loop};
  std::string order;
  int links_before_stop = 0;
  posting.begin();
  loop.post([&]() noexcept {
    order += 'p';
    loop.after(0s, [&] {
      order += 't';
      links_before_stop = posting.links;
      loop.stop();
      posting.ends = true;
    });
  });
  loop.run();
  BOOST_TEST(order == "pt");
  BOOST_TEST(links_before_stop > 0);
  BOOST_TEST(links_before_stop < chain::far_too_many);
}

}  // namespace

BOOST_DATA_TEST_CASE(what_asio_posts_to_itself_leaves_others_their_turn, bdata::make({false, true}), blocking) {
  event_loop loop(make(blocking));
  others_have_their_turn(loop);
}

BOOST_DATA_TEST_CASE(what_asios_handlers_throw_is_counted, bdata::make({false, true}), blocking) {
  event_loop loop(make(blocking));
  const resident r(loop);
  int ran = 0;
  boost::asio::steady_timer late(loop.get_executor(), 1ms);
  late.async_wait([&](const error_code&) {  // while the loop waits in the guest, or in Asio's engine
    ++ran;
    loop.stop();
    throw std::runtime_error("late");
  });
  for (int i = 0; i < 3; ++i)
    boost::asio::post(loop.get_executor(), [&] {
      ++ran;
      throw std::runtime_error("at once");
    });
  loop.run();
  BOOST_TEST(ran == 4);
  BOOST_TEST(loop.counters().handler_errors.value() == 4U);
}

namespace {

/// Hands its quantum off to another thread.
struct offloaded_task final : fair_task {
  explicit offloaded_task(event_loop& l, std::latch* t = nullptr) : loop(l), told(t) {}
  void run_quantum() noexcept override {
    loop.fair_work().count_handed_off();
    if (told) told->count_down();
  }
  event_loop& loop;
  std::latch* told;
};

std::size_t waiting(const std::vector<std::unique_ptr<offloaded_task>>& all) {
  std::size_t count = 0;
  for (const auto& t : all) count += t->is_linked();
  return count;
}

}  // namespace

// On a busy pool fresh work must not queue up behind quanta. Quanta that are running are no obstacle.
BOOST_AUTO_TEST_CASE(few_quanta_wait_for_a_thread_and_any_number_may_run) {
  event_loop loop;
  std::vector<std::unique_ptr<offloaded_task>> all;
  loop.poll();
  loop.post([&]() noexcept {
    for (int i = 0; i < 20; ++i) loop.schedule_fair(*all.emplace_back(std::make_unique<offloaded_task>(loop)));
  });
  for (int i = 0; i < 3; ++i) loop.poll();
  BOOST_TEST(waiting(all) == 16U);
  for (std::size_t begun = 1; begun <= 10; ++begun) {
    loop.fair_work().count_started();
    for (int i = 0; i < 3; ++i) loop.poll();
    BOOST_TEST(waiting(all) == 16U - begun);
  }
  loop.post([&]() noexcept {
    for (int i = 0; i < 10; ++i) loop.fair_work().count_finished();
  });
  for (int i = 0; i < 3; ++i) loop.poll();
  BOOST_TEST(waiting(all) == 6U);
}

// An outer loop may take its time between two calls of poll(), and start timers then.
BOOST_AUTO_TEST_CASE(a_turn_of_poll_leaves_no_old_time_behind) {
  manual_clock time;
  event_loop loop(make_default_engine(), time);
  for (int i = 0; i < 3; ++i) {  // the last ones are quiet turns
    loop.post([&loop]() noexcept { (void)loop.now(); });
    loop.poll();
    time.advance(std::chrono::seconds(1));
    BOOST_TEST((loop.now() == time.now()));
  }
}

// The thread that begins a quantum does not tell the loop, which sleeps.
BOOST_AUTO_TEST_CASE(a_quantum_that_has_begun_makes_room_for_the_next) {
  event_loop loop;
  const resident r(loop);
  std::latch four(4), fifth(1);
  std::vector<std::unique_ptr<offloaded_task>> tasks;
  for (int i = 0; i < 4; ++i) tasks.push_back(std::make_unique<offloaded_task>(loop, &four));
  tasks.push_back(std::make_unique<offloaded_task>(loop, &fifth));
  loop_thread thread(loop, "qnt-test");
  loop.post([&]() noexcept {
    for (const auto& t : tasks) loop.schedule_fair(*t);
  });
  four.wait();
  loop.fair_work().count_started();
  fifth.wait();  // a loop that does not look would hang here
}

// Time limits that stand for "never".
BOOST_DATA_TEST_CASE(what_is_due_at_the_end_of_time_never_happens,
                     bdata::make({false, true}) * bdata::make({false, true}) * bdata::make({false, true}), blocking,
                     guest_waits, is_longest) {
  const duration limit = is_longest ? duration::max() : duration::max() - std::chrono::hours(24 * 365 * 100);
  event_loop loop(make(blocking));
  const resident r(loop);
  int fired = 0;
  callback_timer never([&]() noexcept { ++fired; });
  loop.start(never, limit);
  loop.after(limit, [&] { ++fired; });
  loop.every(limit, [&] { ++fired; });
  std::optional<boost::asio::steady_timer> asios;
  if (guest_waits) {
    asios.emplace(loop.get_executor(), 1h);
    asios->async_wait([](const error_code&) {});
  }
  std::thread later([&] {
    std::this_thread::sleep_for(20ms);  // in which a loop takes a few turns if it sleeps, and thousands if it does not
    loop.stop();
  });
  loop.run();
  later.join();
  BOOST_TEST(loop.counters().turns.value() < 1000);
  BOOST_TEST(fired == 0);
  BOOST_TEST(never.pending());
  asios.reset();
}

BOOST_AUTO_TEST_CASE(a_service_is_made_once_for_each_loop_and_dies_on_it) {
  struct service {
    explicit service(event_loop& l) : loop(l) {}
    ~service() { BOOST_TEST(loop.in_this_thread()); }
    event_loop& loop;
  };
  event_loop a, b;
  BOOST_TEST(&a.use<service>() == &a.use<service>());
  BOOST_TEST(&a.use<service>() != &b.use<service>());
  BOOST_TEST(&b.use<service>().loop == &b);
}

// Else the inner turn would replace the events that the outer one dispatches, and destroy their channels.
BOOST_AUTO_TEST_CASE(a_turn_within_a_turn_does_nothing) {
  event_loop loop;
  int runs = 0;
  bool worked_inside = true;
  loop.post([&]() noexcept {
    loop.post([&]() noexcept { ++runs; });
    worked_inside = loop.poll();
    BOOST_TEST(runs == 0);
  });
  while (loop.poll()) {
  }
  BOOST_TEST(!worked_inside);
  BOOST_TEST(runs == 1);
}
