// SPDX-License-Identifier: BSL-1.0
// simulation: picks the next loop or work item at random.
#include "simulation.hpp"

#include <algorithm>

namespace quintet::testing {

event_loop& simulation::make_loop() {
  event_loop& loop = loops_.emplace_back(network_.make_engine(), clock_);
  drive(loop);
  return loop;
}

// Runs one round in random order: polls every loop, and runs some of the offloaded items.
bool simulation::step_once() {
  bool worked = false;
  std::shuffle(driven_.begin(), driven_.end(), random_);
  round_ = driven_;
  for (event_loop* loop : round_) {
    if (std::ranges::find(driven_, loop) == driven_.end()) continue;  // forget() was called in this round
    worked |= loop->poll();
    if (offloaded_.empty() || random_() % 2 == 0) continue;
    run_offloaded();
    worked = true;  // the item may have posted to a loop already polled
  }
  if (round_.empty() && !offloaded_.empty()) {  // no loop's turn comes in which the item could run
    run_offloaded();
    worked = true;
  }
  return worked || !offloaded_.empty();
}

void simulation::run_offloaded() {
  std::swap(offloaded_[random_() % offloaded_.size()], offloaded_.back());
  work_item* const item = offloaded_.back();
  offloaded_.pop_back();
  (*item)();
}

void simulation::run_until_quiet() {
  while (step_once()) {
  }
}

void simulation::advance(duration by, duration step) {
  for (run_until_quiet(); by > duration::zero(); by -= step) {
    clock_.advance(std::min(by, step));
    run_until_quiet();
  }
}

}  // namespace quintet::testing
