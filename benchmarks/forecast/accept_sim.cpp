// SPDX-License-Identifier: BSL-1.0
// accept_sim.cpp: simulates one queue of new connections behind a spin lock, and one queue per core.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "forecast/shapes.hpp"
#include "report/text.hpp"

namespace quintet::bench::forecasting {
namespace {

constexpr double simulated_us = 100'000;

struct published_row {
  unsigned cores;
  std::optional<double> shared, separate;
};
constexpr published_row published[]{
    {1, {}, 475'000.0 / 21},   {2, {}, {}}, {4, {}, {}}, {8, {}, {}}, {12, {}, {}}, {16, {}, {}},
    {24, 159'000.0, 475'000.0}};

class acceptors {
 public:
  acceptors(const machine_costs& costs, unsigned cores, double locked, double apart)
      : costs_(costs), locked_(locked), apart_(apart), cores_(sim_, {.cores = cores}) {
    for (unsigned i = 0; i < cores; ++i) threads_.push_back(std::make_unique<sim_thread>(cores_));
    for (const auto& t : threads_) cores_.start(*t, serve(*t));
  }
  double per_second() {
    while (sim_.now() < simulated_us && sim_.step()) {
    }
    return static_cast<double>(served_) / sim_.now() * 1e6;
  }

 private:
  double vary(double us) { return sim_.vary(us, costs_.spread); }

  process serve(sim_thread& t) {
    while (true) {
      if (locked_ > 0) {
        if (!lock_.try_take()) co_await lock_.spin(t);
        // All spinning cores fetch the lock's cache line when the lock is passed on.
        const double passing = costs_.line * costs_.spin_share * static_cast<double>(lock_.spinning());
        co_await t.run(vary(locked_) + passing);
        co_await t.run(lock_.release());
      }
      co_await t.run(vary(apart_));
      ++served_;
    }
  }

  const machine_costs& costs_;
  double locked_, apart_;
  simulation sim_{1};
  sim_cores cores_;
  sim_lock lock_;
  std::vector<std::unique_ptr<sim_thread>> threads_;
  unsigned served_ = 0;
};

}  // namespace

double simulate_accepting(const machine_costs& costs, unsigned cores, double locked, double apart) {
  return acceptors(costs, cores, locked, apart).per_second();
}

shape accept_shape(const machine_costs& costs, double short_cpu) {
  const double locked = std::min(costs.accept * costs.accept_locked, 0.9 * short_cpu);
  shape out{
      .name = "accept",
      .title = "short connections: one queue of new connections that all cores lock, against a queue for each",
      .shared = "one queue",
      .separate = "a queue each",
      .conclusion = {},
      .published =
          "Fastsocket, nginx on 24 cores: 475,000 connections/s, 21 times one core; CentOS 6.5, whose cores share "
          "a queue, 159,000 and falling after 12 cores; Linux 3.13 283,000",
      .rows = {}};
  for (const auto& p : published) {
    shape_row row{p.cores,
                  p.cores,
                  simulate_accepting(costs, p.cores, locked, short_cpu - locked),
                  simulate_accepting(costs, p.cores, 0, short_cpu),
                  p.shared,
                  p.separate};
    out.rows.push_back(row);
  }
  const auto peak = std::max_element(out.rows.begin(), out.rows.end(),
                                     [](const shape_row& a, const shape_row& b) { return a.shared < b.shared; });
  const auto &first = out.rows.front(), &last = out.rows.back();
  out.conclusion = fmt::format(
      "one queue: most with {} cores, {} of that with {}; a queue each: {:.1f} times one core with {}", peak->cores,
      percent(last.shared / peak->shared), last.cores, last.separate / first.separate, last.cores);
  return out;
}

}  // namespace quintet::bench::forecasting
