// SPDX-License-Identifier: BSL-1.0
// context_sim.cpp: simulates threads that share one io_context of Boost.Asio, and threads with one each.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <utility>

#include "forecast/server_sim.hpp"
#include "forecast/shapes.hpp"

namespace quintet::bench::forecasting {
namespace {

constexpr unsigned warm_up = 5'000, requests = 20'000;
constexpr double away = 50;

// One thread at a time asks the kernel for events and queues them. All threads lock the queue's mutex for each
// operation. A request is two operations: its input has arrived, its reply has been sent.
class shared_context {
 public:
  shared_context(const machine_costs& costs, unsigned threads, unsigned cores, unsigned connections)
      : costs_(costs),
        request_(costs.models[3].loop.at(static_cast<double>(connections) / threads)),
        sim_(1),
        cores_(sim_, {cores, costs.slice, costs.switch_cost, [&costs](double idle) { return costs.wake.at(idle); }}),
        last_core_(connections) {
    for (unsigned i = 0; i < threads; ++i) threads_.push_back(std::make_unique<sim_thread>(cores_));
    for (const auto& t : threads_) cores_.start(*t, run(*t));
    for (unsigned c = 0; c < connections; ++c) sim_.at(away * sim_.random(), [this, c] { arrive(c); });
  }
  double per_second() {
    advance(warm_up);
    const double from = sim_.now();
    advance(warm_up + requests);
    return requests / (sim_.now() - from) * 1e6;
  }

 private:
  struct operation {
    unsigned connection;
    bool sent;
  };

  void advance(unsigned until) {
    while (done_ < until && sim_.step()) {
    }
  }
  double vary(double us) { return sim_.vary(us, costs_.spread); }

  void arrive(unsigned c) {
    arrived_.push_back(c);
    if (poller_) poller_->wake();
  }
  double holding(const sim_thread& t) { return costs_.lock + fetching(lock_core_, t, 2 * costs_.line); }
  double crossing(unsigned c, const sim_thread& t) { return fetching(last_core_[c], t, costs_.lines * costs_.line); }
  double wake_one() {
    if (idle_.empty()) return poller_ ? poller_->wake() : 0;  // interrupts the poller
    sim_thread& called = *idle_.back();
    idle_.pop_back();
    return called.wake();
  }

  process run(sim_thread& t);

  const machine_costs& costs_;
  double request_;
  simulation sim_;
  sim_cores cores_;
  sim_lock lock_;
  unsigned lock_core_ = 0, done_ = 0;
  std::vector<unsigned> last_core_, arrived_;
  std::deque<operation> queue_;
  std::vector<sim_thread*> idle_;
  bool polling_ = false;
  sim_thread* poller_ = nullptr;  // set while the poller sleeps
  std::vector<std::unique_ptr<sim_thread>> threads_;
};

process shared_context::run(sim_thread& t) {
  while (true) {
    while (!lock_.try_take()) co_await lock_.wait(t);
    co_await t.run(holding(t));
    if (!queue_.empty()) {
      const operation next = queue_.front();
      queue_.pop_front();
      const bool more = !queue_.empty();
      co_await t.run(lock_.release());
      if (more) co_await t.run(wake_one());
      if (next.sent) continue;
      co_await t.run(vary(request_) + crossing(next.connection, t));
      ++done_;
      sim_.at(sim_.now() + vary(away), [this, c = next.connection] { arrive(c); });
      while (!lock_.try_take()) co_await lock_.wait(t);
      co_await t.run(holding(t));
      queue_.push_back({next.connection, true});
      co_await t.run(lock_.release());
      co_await t.run(wake_one());
    } else if (!polling_) {
      polling_ = true;
      co_await t.run(lock_.release());
      if (arrived_.empty() && queue_.empty()) {
        poller_ = &t;
        co_await t.sleep();
        poller_ = nullptr;
      }
      co_await t.run(costs_.turn);
      while (!lock_.try_take()) co_await lock_.wait(t);
      co_await t.run(holding(t));
      for (const unsigned c : std::exchange(arrived_, {})) queue_.push_back({c, false});
      polling_ = false;
      co_await t.run(lock_.release());
    } else {
      co_await t.run(lock_.release());
      if (!queue_.empty() || !polling_) continue;  // the state changed during the release
      idle_.push_back(&t);
      co_await t.sleep();
    }
  }
}

}  // namespace

double simulate_shared_context(const machine_costs& costs, unsigned threads, unsigned cores, unsigned connections) {
  return shared_context(costs, threads, cores, connections).per_second();
}

shape io_context_shape(const machine_costs& costs, unsigned connections) {
  shape out{
      .name = "io_context",
      .title = "threads that all run one io_context, against an io_context for each",
      .shared = "one io_context",
      .separate = "an io_context each",
      .conclusion = {},
      .published = "MongoDB's servers, cores and threads not told: 350,000 requests/s against 900,000, 2.57 times",
      .rows = {}};
  constexpr std::array<std::pair<unsigned, unsigned>, 9> sizes{
      {{1, 1}, {2, 2}, {4, 4}, {8, 8}, {16, 16}, {24, 24}, {40, 8}, {40, 16}, {40, 24}}};
  std::string reached = "never 2.57 times with as many threads as cores, up to 24";
  for (const auto& [threads, cores] : sizes) {
    const scenario separate{.model = 4,
                            .cores = cores,
                            .loops = threads,
                            .connections = connections,
                            .client = client_place::ideal,
                            .away = away,
                            .warm_up = std::max(warm_up, 4 * connections)};
    const shape_row row{threads,
                        cores,
                        simulate_shared_context(costs, threads, cores, connections),
                        simulate(costs, separate).requests_per_s,
                        {},
                        {}};
    if (threads == cores && row.separate / row.shared >= 2.57 && reached.starts_with("never"))
      reached = fmt::format("2.57 times and more from {} cores on", cores);
    out.rows.push_back(row);
  }
  const auto ratio = [&](unsigned threads) {
    const auto at = std::find_if(out.rows.begin(), out.rows.end(),
                                 [&](const shape_row& r) { return r.threads == threads && r.cores == 8; });
    return at->separate / at->shared;
  };
  out.conclusion =
      fmt::format("an io_context each has {:.2f} times as many with 8 threads on 8 cores, {:.2f} times with 40; {}",
                  ratio(8), ratio(40), reached);
  return out;
}

shape shard_shape(const machine_costs& costs, unsigned connections) {
  struct published_row {
    unsigned cores;
    std::optional<double> requests_per_s;
  };
  constexpr published_row published[]{{1, {}},           {2, 637'430.0},    {4, 1'303'761.0},  {8, 2'493'690.0},
                                      {16, 4'385'829.0}, {24, 6'291'073.0}, {28, 6'826'827.0}, {32, 6'869'199.0}};
  shape out{
      .name = "shards",
      .title = "loops that share nothing (loop_per_thread, echo)",
      .shared = {},
      .separate = "a loop for each core",
      .conclusion = {},
      .published =
          "Seastar's HTTP server on two sockets of 14 cores, client on another machine: 318,715 requests/s for each "
          "core with 2, 243,815 with 28, flat beyond",
      .rows = {}};
  for (const auto& p : published) {
    const scenario s{.model = 4,
                     .cores = p.cores,
                     .loops = p.cores,
                     .connections = connections,
                     .client = client_place::ideal,
                     .away = away,
                     .warm_up = std::max(warm_up, 4 * connections)};
    out.rows.push_back({p.cores, p.cores, 0, simulate(costs, s).requests_per_s, {}, p.requests_per_s});
  }
  const auto &first = out.rows.front(), &last = out.rows.back();
  out.conclusion = fmt::format(
      "{:.1f} times one core with {}: nothing is shared, and fewer connections for a core fit its caches better; "
      "memory, "
      "sockets of CPUs and the network, which bend the published curve, are not simulated",
      last.separate / first.separate, last.cores);
  return out;
}

}  // namespace quintet::bench::forecasting
