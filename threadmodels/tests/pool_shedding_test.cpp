// SPDX-License-Identifier: BSL-1.0
// pool_shedding_test: when all workers are stuck, only items that are late themselves are shed.
#include <boost/test/unit_test.hpp>

#include "waiting.hpp"

#include <quintet/net/event_loop.hpp>
#include <quintet/threadmodels/compute/worker_pool.hpp>

#include <chrono>

namespace quintet::test {
namespace {

using namespace std::chrono_literals;

class job final : public work_item {
 public:
  enum class kind : bool { cannot_shed, can_shed };
  explicit job(kind k) : work_item(&job::run) { set_facts({.can_shed = k == kind::can_shed}); }
  bool ran = false, was_shed = false;

 private:
  static void run(work_item& item) noexcept {
    auto& self = static_cast<job&>(item);
    self.ran = true;
    self.was_shed = self.is_expired();
  }
};

class blocking_job final : public work_item {
 public:
  explicit blocking_job(gate& hold) : work_item(&blocking_job::run), hold_(hold) {}

 private:
  static void run(work_item& item) noexcept { static_cast<blocking_job&>(item).hold_.wait(); }
  gate& hold_;
};

BOOST_AUTO_TEST_CASE(a_young_item_behind_an_old_one_that_cannot_be_shed) {
  job old(job::kind::cannot_shed), young(job::kind::can_shed);
  gate hold;
  blocking_job blocking(hold);
  worker_pool pool({.min = 1, .max = 1, .stuck_time = 250ms, .overload_latency = 500ms});
  pool.submit(blocking);
  BOOST_REQUIRE(hold.await_waiting(1));

  manual_clock time;
  time.set(clock::system().now());
  event_loop loop(make_default_engine(), time);
  const auto submit = [&](job& j) {
    loop.post([&] { pool.submit(j); });
    while (loop.poll()) {
    }
  };
  const auto pass = [&](duration d) {
    time.advance(d);
    while (loop.poll()) {
    }
  };
  submit(old);
  pass(1s);
  submit(young);
  pass(100ms);
  BOOST_TEST(!young.ran);
  pass(500ms);
  BOOST_TEST(young.was_shed);
  BOOST_TEST(pool.statistics().shed == 1u);
  hold.open();
  pool.stop();
  BOOST_TEST(old.ran);
  BOOST_TEST(!old.was_shed);
  loop.stop();
  loop.run();
}

}  // namespace
}  // namespace quintet::test
