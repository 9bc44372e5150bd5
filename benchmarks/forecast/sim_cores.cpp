// SPDX-License-Identifier: BSL-1.0
// sim_cores.cpp: assigns cores to threads.
#include "forecast/sim_cores.hpp"

#include <algorithm>
#include <cmath>

namespace quintet::bench::forecasting {
namespace {

constexpr double nothing = 1e-9;  // rounding error after additions and subtractions of times

}  // namespace

double simulation::exponential(double mean) { return -mean * std::log1p(-random()); }

void sim_cores::start(sim_thread& t, process p) {
  t.then_ = sim_.keep(std::move(p));
  t.state_ = sim_thread::state::ready;
  for (unsigned i = 0; i < cores_.size(); ++i) {
    if (!cores_[i].running) return assign(i, t);
  }
  ready_.push_back(&t);
}

// Returns the thread's last core, whose caches are warm, or else the core that became idle last. -1: none is idle.
int sim_cores::idle_core_for(const sim_thread& t) const {
  if (!cores_[t.core_].running) return static_cast<int>(t.core_);
  int best = -1;
  for (unsigned i = 0; i < cores_.size(); ++i) {
    if (cores_[i].running) continue;
    if (best < 0 || cores_[i].idle_since > cores_[static_cast<unsigned>(best)].idle_since) best = static_cast<int>(i);
  }
  return best;
}

double sim_cores::wake(sim_thread& t) {
  if (t.state_ != sim_thread::state::asleep) return 0;
  t.state_ = sim_thread::state::ready;
  const int found = idle_core_for(t);
  if (found < 0) {
    ready_.push_back(&t);
    return 0;
  }
  const auto number = static_cast<unsigned>(found);
  core& on = cores_[number];
  const auto cost = settings_.wake(sim_.now() - on.idle_since);
  on.running = &t;  // reserves the core
  t.demand_ += t.resume_cost_;
  sim_.at(sim_.now() + cost.latency, [this, number] { assign(number, *cores_[number].running); });
  return cost.cpu;
}

void sim_cores::assign(unsigned number, sim_thread& t) {
  core& on = cores_[number];
  on.running = &t;
  t.core_ = number;
  t.state_ = sim_thread::state::on_core;
  t.slice_left_ = settings_.slice;
  if (on.last && on.last != &t) t.demand_ += settings_.switch_cost;
  on.last = &t;
  if (t.demand_ > nothing) return go_on(number);
  sim_.at(sim_.now(), [this, number] { ran(number); });
}

void sim_cores::go_on(unsigned number) {
  sim_thread& t = *cores_[number].running;
  if (t.slice_left_ <= nothing) {
    if (!ready_.empty()) {
      t.state_ = sim_thread::state::ready;
      ready_.push_back(&t);
      return next(number);
    }
    t.slice_left_ = settings_.slice;
  }
  t.chunk_ = std::min(t.demand_, t.slice_left_);
  sim_.at(sim_.now() + t.chunk_, [this, number] { ran(number); });
}

void sim_cores::ran(unsigned number) {
  sim_thread& t = *cores_[number].running;
  const double chunk = std::exchange(t.chunk_, 0);
  t.used_ += chunk;
  t.demand_ -= chunk;
  t.slice_left_ -= chunk;
  if (t.demand_ > nothing) return go_on(number);
  t.demand_ = 0;
  t.then_.resume();
}

void sim_cores::next(unsigned number) {
  core& on = cores_[number];
  if (ready_.empty()) {
    on.running = nullptr;
    on.idle_since = sim_.now();
    return;
  }
  sim_thread& t = *ready_.front();
  ready_.pop_front();
  assign(number, t);
}

void sim_cores::give_up(sim_thread& t) {
  t.state_ = sim_thread::state::asleep;
  next(t.core_);
}

void sim_thread::run_for(double us, std::coroutine_handle<> then) {
  then_ = then;
  demand_ += us;
  cores_.go_on(core_);
}

void sim_thread::fall_asleep(std::coroutine_handle<> then) {
  then_ = then;
  cores_.give_up(*this);
}

void sim_thread::go_on() {
  cores_.sim().at(cores_.sim().now(), [this] { then_.resume(); });
}

double sim_lock::release() {
  if (!spinners_.empty()) {  // the lock stays taken
    spinners_.front()->go_on();
    spinners_.pop_front();
    return 0;
  }
  taken_ = false;
  if (sleepers_.empty()) return 0;
  sim_thread& first = *sleepers_.front();
  sleepers_.pop_front();
  first.blocked_ = false;
  return first.wake();
}

}  // namespace quintet::bench::forecasting
