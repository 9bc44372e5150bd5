// SPDX-License-Identifier: BSL-1.0
// waiting_test: how a loop sleeps, and how it looks for work before that: who posts meanwhile need not wake it.
#include <quintet/net/engine/socket_services.hpp>
#include <quintet/net/event_loop.hpp>
#include <quintet/net/loop/loop_thread.hpp>
#include <quintet/net/simulation.hpp>

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <functional>
#include <latch>
#include <memory>
#include <thread>
#include <utility>

using namespace quintet;
using testing::memory_network;
using namespace std::chrono_literals;

namespace {

/// What an engine was asked for. Its clock moves with every look: spins end without a real time that passes.
struct record {
  manual_clock time;
  std::function<void(int)> on_look = [](int) {};  // called with the number of the look
  std::function<bool()> sleep = [] { return false; };
  int looks = 0, sleeps = 0;
  int looks_before_sleep = 0;  ///< the last one
  std::atomic<int> wakes = 0;
  duration asked{};  // how long the last sleep was to be
};

/// Of a network in memory, with the waits of a record.
class recording_engine final : public engine {
 public:
  recording_engine(record& r, std::unique_ptr<engine> rest)
      : engine({.name = "recording"}, rest->sockets()), record_(r), rest_(std::move(rest)) {}
  bool poll(duration longest) override {
    if (longest > duration::zero()) {
      ++record_.sleeps;
      record_.looks_before_sleep = record_.looks;
      record_.asked = longest;
      return record_.sleep();
    }
    record_.time.advance(1us);
    record_.on_look(++record_.looks);
    return false;
  }
  void wake() noexcept override { ++record_.wakes; }
  error_code add(channel& c, stream_handle&& h) override { return rest_->add(c, std::move(h)); }
  stream_handle remove(channel& c) noexcept override { return rest_->remove(c); }
  error_code set_reading(channel&, bool) noexcept override { return {}; }
  using engine::send;
  send_result send(stream_channel& c, output_pieces p) noexcept override { return rest_->send(c, p); }

 private:
  record& record_;
  std::unique_ptr<engine> rest_;
};

struct fixture {
  explicit fixture(duration spin)
      : loop(std::make_unique<recording_engine>(seen, net.make_engine()), seen.time, {.tuning = {.spin = spin}}) {}
  memory_network net{1};
  record seen;
  event_loop loop;
};

}  // namespace

BOOST_AUTO_TEST_CASE(after_a_sleep_it_is_later) {
  for (const duration spin : {0us, 100us}) {
    fixture f(spin);
    f.seen.sleep = [&] {
      f.seen.time.advance(10s);
      BOOST_TEST((f.loop.now() == f.seen.time.now()));
      return f.loop.stop(), true;
    };
    (void)f.loop.after(1h, [] {});  // it has asked for the time before it slept
    f.loop.run();
    BOOST_TEST(f.seen.sleeps == 1);
  }
}

BOOST_AUTO_TEST_CASE(without_a_budget_it_sleeps_at_once) {
  fixture f(0us);
  f.seen.sleep = [&] { return f.loop.stop(), true; };
  f.loop.run();
  BOOST_TEST(f.seen.sleeps == 1);
  BOOST_TEST(f.seen.looks_before_sleep == 0);
}

BOOST_AUTO_TEST_CASE(an_idle_loop_spins_once_and_then_sleeps_until_it_is_woken) {
  fixture f(100us);
  f.seen.sleep = [&] { return f.loop.stop(), true; };
  f.loop.run();
  BOOST_TEST(f.seen.looks_before_sleep == 101);
  BOOST_TEST(f.seen.sleeps == 1);
  BOOST_TEST((f.seen.asked == engine::forever));
  BOOST_TEST(f.loop.counters().spins_failed.value() == 1u);
  BOOST_TEST(f.loop.counters().spins_paid.value() == 0u);
}

BOOST_AUTO_TEST_CASE(woken_again_and_again_for_nothing_it_gives_up) {
  fixture f(100us);
  int left = 1000;
  f.seen.sleep = [&] {
    if (--left == 0) f.loop.stop();
    return true;
  };
  f.loop.run();
  BOOST_TEST(f.seen.sleeps == 1000);
  BOOST_TEST(f.loop.counters().spins_failed.value() < 20u);
}

BOOST_AUTO_TEST_CASE(a_post_from_another_thread_during_a_spin_runs_and_wakes_nobody) {
  fixture f(100us);
  f.seen.sleep = [&] {
    BOOST_ERROR("it slept");
    return f.loop.stop(), true;
  };
  bool here = false;
  f.seen.on_look = [&](int n) {
    if (n != 50) return;
    std::thread([&] { f.loop.post([&]() noexcept { here = f.loop.in_this_thread(), f.loop.stop(); }); }).join();
  };
  f.loop.run();
  BOOST_TEST(here);
  BOOST_TEST(f.seen.wakes == 0);
  BOOST_TEST(f.loop.counters().spins_paid.value() == 1u);
}

BOOST_AUTO_TEST_CASE(a_spin_ends_when_a_timer_is_due_and_counts_off_from_the_sleep) {
  fixture f(100us);
  int fired = 0;
  f.seen.sleep = [&] { return f.seen.time.advance(f.seen.asked), false; };
  f.loop.post([&]() noexcept {
    (void)f.loop.after(30us, [&] {
      ++fired;
      BOOST_TEST(f.seen.sleeps == 0);
      (void)f.loop.after(1ms, [&] { ++fired, f.loop.stop(); });
    });
  });
  f.loop.run();
  BOOST_TEST(fired == 2);
  BOOST_TEST(f.seen.sleeps == 1);
  BOOST_TEST(f.seen.asked.count() < duration(1ms - 90us).count());
}

BOOST_AUTO_TEST_CASE(a_loop_that_is_driven_by_hand_never_spins) {
  fixture f(100us);
  (void)f.loop.poll();
  BOOST_TEST(f.seen.looks == 1);
}

BOOST_AUTO_TEST_CASE(a_loop_of_the_system_that_spins_gets_every_post) {
  for (const bool blocking : {false, true}) {
    event_loop loop(blocking ? make_blocking_engine() : make_default_engine(), clock::system(),
                    {.tuning = {.spin = 200us}});
    struct resident : loop_member {
      explicit resident(event_loop& l) : loop(l) { loop.join(*this); }
      void abort() noexcept override { loop.leave(*this); }
      event_loop& loop;
    } keeps_it_running(loop);
    loop_thread thread(loop, "qnt-test");
    for (int i = 0; i < 5000; ++i) {
      std::latch done(1);
      loop.post([&]() noexcept { done.count_down(); });
      done.wait();  // a lost wake-up would hang here
    }
  }
}
