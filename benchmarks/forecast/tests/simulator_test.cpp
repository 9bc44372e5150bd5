// SPDX-License-Identifier: BSL-1.0
// simulator_test.cpp: the simulator against what queueing theory knows exactly.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <deque>
#include <memory>
#include <vector>

#include "forecast/sim_cores.hpp"

using namespace quintet::bench::forecasting;
using boost::test_tools::tolerance;

namespace {

constexpr double service = 10;  // microseconds
constexpr std::size_t customers = 200'000;

// Customers arrive at random, and one thread serves them.
struct open_queue {
  open_queue(double load, bool random) : random_service(random), mean_gap(service / load), server(cores) {
    cores.start(server, serve());
    sim.at(0, [this] { arrive(); });
    while (served < customers) sim.step();
  }
  void arrive() {
    waiting.push_back(sim.now());
    server.wake();
    sim.at(sim.now() + sim.exponential(mean_gap), [this] { arrive(); });
  }
  process serve() {
    while (true) {
      while (waiting.empty()) co_await server.sleep();
      const double arrived = waiting.front();
      waiting.pop_front();
      waited += sim.now() - arrived;
      co_await server.run(random_service ? sim.exponential(service) : service);
      ++served;
    }
  }
  double mean_wait() const { return waited / static_cast<double>(served); }

  bool random_service;
  double mean_gap, waited = 0;
  std::size_t served = 0;
  std::deque<double> waiting;
  simulation sim{7};
  sim_cores cores{sim, {}};
  sim_thread server;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(forecast_simulator)

BOOST_AUTO_TEST_CASE(equal_services_wait_as_pollaczek_and_khinchine_say) {
  for (const double load : {0.3, 0.6, 0.8})
    BOOST_TEST(open_queue(load, false).mean_wait() == load * service / (2 * (1 - load)), tolerance(0.03));
}

BOOST_AUTO_TEST_CASE(random_services_wait_twice_as_long) {
  for (const double load : {0.3, 0.6, 0.8})
    BOOST_TEST(open_queue(load, true).mean_wait() == load * service / (1 - load), tolerance(0.04));
}

// M machines run for a random time, then queue for one repairman: the closed loop of any server.
BOOST_AUTO_TEST_CASE(machines_and_a_repairman_have_the_throughput_of_mean_value_analysis) {
  for (const unsigned machines : {1U, 3U, 10U, 30U}) {
    constexpr double running = 100;
    simulation sim(3);
    sim_cores cores(sim, {});
    sim_thread repairman(cores);
    unsigned broken = 0, mended = 0;
    const auto run_on = [&] {
      sim.at(sim.now() + sim.exponential(running), [&] {
        ++broken;
        repairman.wake();
      });
    };
    const auto mend = [](simulation& s, sim_thread& t, unsigned& waiting, unsigned& done, auto& again) -> process {
      while (true) {
        while (waiting == 0) co_await t.sleep();
        co_await t.run(s.exponential(service));
        --waiting;
        ++done;
        again();
      }
    };
    cores.start(repairman, mend(sim, repairman, broken, mended, run_on));
    for (unsigned i = 0; i < machines; ++i) run_on();
    while (mended < customers) sim.step();
    double queue = 0, expected = 0;
    for (unsigned n = 1; n <= machines; ++n) {
      const double there = service * (1 + queue);
      expected = n / (running + there);
      queue = expected * there;
    }
    BOOST_TEST(mended / sim.now() == expected, tolerance(0.02));
    BOOST_TEST(repairman.used() / sim.now() == expected * service, tolerance(0.02));  // the utilisation law
  }
}

// Threads that only compute: as fast as there are cores, each as much as the others.
BOOST_AUTO_TEST_CASE(cores_are_shared_in_equal_parts) {
  simulation sim(1);
  sim_cores cores(sim, {.cores = 3, .slice = 50});
  std::vector<std::unique_ptr<sim_thread>> threads;
  const auto compute = [](sim_thread& t) -> process {
    while (true) co_await t.run(7);
  };
  for (int i = 0; i < 7; ++i) threads.push_back(std::make_unique<sim_thread>(cores));
  for (auto& t : threads) cores.start(*t, compute(*t));
  while (sim.now() < 100'000) sim.step();
  double sum = 0;
  for (auto& t : threads) {
    sum += t->used();
    BOOST_TEST(t->used() == 3.0 / 7 * sim.now(), tolerance(0.01));
  }
  BOOST_TEST(sum == 3 * sim.now(), tolerance(0.001));
}

BOOST_AUTO_TEST_CASE(going_on_with_another_thread_costs_the_core_its_time) {
  simulation sim(1);
  sim_cores cores(sim, {.slice = 10, .switch_cost = 2});
  sim_thread a(cores), b(cores);
  const auto compute = [](sim_thread& t) -> process {
    while (true) co_await t.run(10);
  };
  cores.start(a, compute(a));
  cores.start(b, compute(b));
  while (sim.now() < 12'000) sim.step();
  BOOST_TEST(a.used() + b.used() == sim.now(), tolerance(0.01));  // the switch is theirs
}

BOOST_AUTO_TEST_CASE(waking_takes_as_long_as_the_core_was_idle_says) {
  simulation sim(1);
  sim_cores cores(sim, {.wake = [](double idle) { return wake_up{idle / 10, idle}; }});
  sim_thread sleeper(cores, 3);
  double began = 0, returned = 0;
  const auto rest = [&](sim_thread& t) -> process {
    co_await t.sleep();
    began = sim.now();
  };
  cores.start(sleeper, rest(sleeper));
  sim.at(50, [&] { returned = sleeper.wake(); });
  while (sim.step()) {
  }
  BOOST_TEST(returned == 5);
  BOOST_TEST(began == 50 + 50 + 3);
  BOOST_TEST(sleeper.used() == 3);
}

// Whoever holds it alone can do so: one after the other, however many cores there are.
BOOST_AUTO_TEST_CASE(a_lock_bounds_what_many_cores_do_and_a_mutex_as_well_as_a_spin_lock) {
  for (const bool spinning : {false, true}) {
    simulation sim(5);
    sim_cores cores(sim, {.cores = 8});
    sim_lock lock;
    unsigned inside = 0, passed = 0;
    std::vector<std::unique_ptr<sim_thread>> threads;
    const auto pass = [&](sim_thread& t) -> process {
      while (true) {
        co_await t.run(sim.exponential(4));
        if (spinning) {
          if (!lock.try_take()) co_await lock.spin(t);
        } else {
          while (!lock.try_take()) co_await lock.wait(t);
        }
        ++inside;
        co_await t.run(2);
        if (inside-- != 1) throw std::logic_error("two at a time");
        ++passed;
        co_await t.run(lock.release());
      }
    };
    for (int i = 0; i < 8; ++i) threads.push_back(std::make_unique<sim_thread>(cores));
    for (auto& t : threads) cores.start(*t, pass(*t));
    while (sim.now() < 100'000) sim.step();
    BOOST_TEST(passed == 50'000, tolerance(0.03));
  }
}

BOOST_AUTO_TEST_SUITE_END()
