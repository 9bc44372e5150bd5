// SPDX-License-Identifier: BSL-1.0
// server_sim.cpp: simulates the threads of the five models and of their client.
#include "forecast/server_sim.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <utility>

namespace quintet::bench::forecasting {
namespace {

constexpr std::size_t server_batch = 256, client_batch = 512;  // events per system call
constexpr std::size_t together = 64;                           // cheap batches in one handoff, and in its return
constexpr double patience_us = 100e6;                          // for the slowest scenario

using numbers = std::vector<unsigned>;  // of connections

numbers take_front(numbers& from, std::size_t most) {
  if (from.size() <= most) return std::exchange(from, {});
  numbers out(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(most));
  from.erase(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(most));
  return out;
}

struct loop_state {
  sim_thread thread;
  numbers readable, home;
};

struct client_state {
  sim_thread thread;
  numbers mine, replies;
};

struct connection_state {
  double sent = 0;
  unsigned last_core = 0;
  bool asked = false;  // model 1: its thread has input
};

class server_sim {
 public:
  server_sim(const machine_costs& costs, const scenario& s)
      : costs_(costs),
        of_(costs.models[s.model - 1]),
        s_(s),
        sim_(s.seed),
        server_(sim_, settings(s.cores)),
        client_(sim_, settings(s.client_threads)),
        connections_(s.connections) {
    const bool many_loops = s.model >= 4;
    loop_count_ = many_loops ? s.loops : 1;
    const double sharing = s.model == 1 ? s.cores : loop_count_;
    loop_cost_ = of_.loop.at(s.connections / sharing);
    client_cost_ = of_.client.at(static_cast<double>(s.connections) / s.client_threads);
    is_expensive_ = s.handler > expensive_from;
    pooled_ = s.model == 3 || (s.model == 5 && is_expensive_);
    if (is_expensive_) loop_cost_ += of_.expensive_loop - of_.loop.at_few;
    work_ = s.handler * costs.work_factor;
    start_server();
    start_client();
  }

  sim_outcome run() {
    advance(s_.warm_up);
    const double from = sim_.now(), before = static_cast<double>(done_);
    const auto used = cpu();
    latencies_.clear();
    advance(s_.warm_up + s_.requests);
    const double count = static_cast<double>(done_) - before, time = sim_.now() - from;
    if (count <= 0 || time <= 0) return {};
    const auto now = cpu();
    return {count / time * 1e6,         percentile(0.5),           percentile(0.99), (now[0] - used[0]) / count,
            (now[1] - used[1]) / count, (now[2] - used[2]) / count};
  }

 private:
  core_settings settings(unsigned cores) const {
    return {cores, costs_.slice, costs_.switch_cost, [this](double idle) {
              auto cost = costs_.wake.at(idle);
              cost.latency = std::max(0.0, cost.latency + of_.wake_extra);
              return cost;
            }};
  }

  double vary(double us) { return sim_.vary(us, costs_.spread); }

  void start_server();
  void start_client();
  process connection_thread(unsigned c, sim_thread& t);
  process loop(loop_state& l);
  process worker(sim_thread& t);
  process client(client_state& me);

  // A connection's request arrives. Returns the cost of notifying the thread that serves it.
  double arrive(unsigned c) {
    if (s_.model == 1) {
      connections_[c].asked = true;
      return threads_[c]->wake();
    }
    loop_state& l = *loops_[c % loop_count_];
    l.readable.push_back(c);
    return l.thread.wake();
  }

  // A reply is sent. Returns the cost of notifying the client.
  double reply(unsigned c) {
    if (s_.client != client_place::ideal) {
      client_state& who = *clients_[c % clients_.size()];
      who.replies.push_back(c);
      return who.thread.wake();
    }
    finish(c);
    sim_.at(sim_.now() + vary(s_.away), [this, c] {
      connections_[c].sent = sim_.now();
      arrive(c);
    });
    return 0;
  }

  void finish(unsigned c) {
    ++done_;
    latencies_.push_back(sim_.now() - connections_[c].sent);
  }

  // Returns the cost of fetching a batch's cache lines from its previous core.
  double crossing(unsigned c, const sim_thread& t) {
    return fetching(connections_[c].last_core, t, costs_.lines * costs_.line);
  }
  // A lock costs more on another core than the previous one.
  double holding(const sim_thread& t) { return costs_.lock + fetching(lock_core_, t, 2 * costs_.line); }

  // Wakes a worker if the queue needs one, by the rule of worker_pool. Returns the cost.
  double call_worker() {
    const std::size_t needed = is_expensive_ ? queue_.size() : (queue_.size() + together - 1) / together;
    const std::size_t available_count = workers_.size() - idle_.size() - busy_;
    if (idle_.empty() || available_count >= needed) return 0;
    sim_thread& called = *idle_.back();
    idle_.pop_back();
    return called.wake();
  }

  void advance(std::size_t until) {
    while (done_ < until && sim_.now() < patience_us && sim_.step()) {
    }
  }
  std::array<double, 3> cpu() const {
    std::array<double, 3> out{};
    for (const auto& t : threads_) out[0] += t->used();
    for (const auto& l : loops_) out[0] += l->thread.used();
    for (const auto& w : workers_) out[1] += w->used();
    for (const auto& c : clients_) out[2] += c->thread.used();
    return out;
  }
  double percentile(double part) {
    if (latencies_.empty()) return 0;
    const auto at = static_cast<std::ptrdiff_t>(part * static_cast<double>(latencies_.size() - 1));
    std::nth_element(latencies_.begin(), latencies_.begin() + at, latencies_.end());
    return latencies_[static_cast<std::size_t>(at)];
  }

  const machine_costs& costs_;
  const model_costs& of_;
  const scenario& s_;
  simulation sim_;
  sim_cores server_, client_;
  unsigned loop_count_ = 1;
  double loop_cost_ = 0, client_cost_ = 0, work_ = 0;
  bool is_expensive_ = false, pooled_ = false;
  std::vector<connection_state> connections_;
  std::vector<std::unique_ptr<sim_thread>> threads_, workers_;
  std::vector<std::unique_ptr<loop_state>> loops_;
  std::vector<std::unique_ptr<client_state>> clients_;
  // State of the pool.
  std::deque<unsigned> queue_;
  std::vector<sim_thread*> idle_;  // the last one that was busy is woken first
  unsigned busy_ = 0, lock_core_ = 0;
  sim_lock lock_;
  std::vector<double> latencies_;
  std::size_t done_ = 0;
};

void server_sim::start_server() {
  const auto thread = [&] { return std::make_unique<sim_thread>(server_, of_.resume); };
  if (s_.model == 1) {
    for (unsigned c = 0; c < s_.connections; ++c) threads_.push_back(thread());
    for (unsigned c = 0; c < s_.connections; ++c) server_.start(*threads_[c], connection_thread(c, *threads_[c]));
    return;
  }
  for (unsigned i = 0; i < loop_count_; ++i)
    loops_.push_back(std::unique_ptr<loop_state>(new loop_state{sim_thread(server_, of_.resume), {}, {}}));
  for (const auto& l : loops_) server_.start(l->thread, loop(*l));
  if (!pooled_) return;
  for (unsigned i = 0; i < s_.workers; ++i) workers_.push_back(thread());
  for (const auto& w : workers_) server_.start(*w, worker(*w));
}

void server_sim::start_client() {
  if (s_.client == client_place::ideal) {
    for (unsigned c = 0; c < s_.connections; ++c) sim_.at(s_.away * sim_.random(), [this, c] { arrive(c); });
    return;
  }
  sim_cores& where = s_.client == client_place::shared_cores ? server_ : client_;
  for (unsigned i = 0; i < s_.client_threads; ++i)
    clients_.push_back(std::unique_ptr<client_state>(new client_state{sim_thread(where, of_.client_resume), {}, {}}));
  for (unsigned c = 0; c < s_.connections; ++c) clients_[c % clients_.size()]->mine.push_back(c);
  for (const auto& c : clients_) where.start(c->thread, client(*c));
}

process server_sim::connection_thread(unsigned c, sim_thread& t) {
  while (true) {
    while (!std::exchange(connections_[c].asked, false)) co_await t.sleep();
    co_await t.run(vary(loop_cost_) + work_);
    co_await t.run(reply(c));
  }
}

process server_sim::loop(loop_state& l) {
  sim_thread& t = l.thread;
  const double each = pooled_ ? loop_cost_ / 2 : loop_cost_;  // with a pool: once for input, once for output
  while (true) {
    while (l.readable.empty() && l.home.empty()) co_await t.sleep();
    co_await t.run(costs_.turn);
    for (const unsigned c : std::exchange(l.home, {})) {
      co_await t.run(vary(each) + crossing(c, t));
      co_await t.run(reply(c));
    }
    const auto batch = take_front(l.readable, server_batch);
    numbers gathered;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const unsigned c = batch[i];
      co_await t.run(vary(each) + (pooled_ ? 0 : work_));
      connections_[c].last_core = t.core();
      if (!pooled_) {
        co_await t.run(reply(c));
        continue;
      }
      gathered.push_back(c);
      if (!is_expensive_ && gathered.size() < together && i + 1 < batch.size()) continue;
      while (!lock_.try_take()) co_await lock_.wait(t);
      co_await t.run(holding(t) + (is_expensive_ ? 0 : of_.handoff / 2));
      queue_.insert(queue_.end(), gathered.begin(), gathered.end());
      gathered.clear();
      co_await t.run(lock_.release());
      co_await t.run(call_worker());
    }
  }
}

process server_sim::worker(sim_thread& t) {
  const double each = is_expensive_ ? of_.expensive_worker : of_.worker;
  numbers kept;
  while (true) {
    while (!lock_.try_take()) co_await lock_.wait(t);
    co_await t.run(holding(t));
    const bool found = !queue_.empty();
    unsigned c = 0;
    if (found) {
      c = queue_.front();
      queue_.pop_front();
      if (is_expensive_) ++busy_;
    }
    co_await t.run(lock_.release());
    if (!found) {
      if (!queue_.empty()) continue;  // the state changed during the release
      idle_.push_back(&t);
      co_await t.sleep();
      continue;
    }
    co_await t.run(vary(each) + work_ + crossing(c, t));
    kept.push_back(c);
    if (!is_expensive_ && !queue_.empty() && kept.size() < together) continue;
    co_await t.run(is_expensive_ ? 0 : of_.handoff / 2);
    for (const unsigned k : std::exchange(kept, {})) {
      loop_state& home = *loops_[k % loop_count_];
      home.home.push_back(k);
      co_await t.run(home.thread.wake());
    }
    if (is_expensive_) --busy_;
  }
}

process server_sim::client(client_state& me) {
  sim_thread& t = me.thread;
  for (const unsigned c : me.mine) {
    connections_[c].sent = sim_.now();
    co_await t.run(vary(client_cost_));
    co_await t.run(arrive(c));
  }
  while (true) {
    while (me.replies.empty()) co_await t.sleep();
    co_await t.run(costs_.turn);
    for (const unsigned c : take_front(me.replies, client_batch)) {
      const double cost = vary(client_cost_);
      co_await t.run(cost / 2);
      finish(c);
      connections_[c].sent = sim_.now();
      co_await t.run(cost / 2);
      co_await t.run(arrive(c));
    }
  }
}

}  // namespace

sim_outcome simulate(const machine_costs& costs, const scenario& s) { return server_sim(costs, s).run(); }

}  // namespace quintet::bench::forecasting
