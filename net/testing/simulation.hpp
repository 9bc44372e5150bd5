// SPDX-License-Identifier: BSL-1.0
// simulation: several loops, a clock and a network in one thread; one seed, one run.
#pragma once

#include "../../base/clock.hpp"
#include "../loop/event_loop.hpp"
#include "memory_network.hpp"

#include <cstdint>
#include <deque>
#include <random>
#include <vector>

namespace quintet {

/// Drives loops by hand, in an order that the seed decides. Work that a model would give to a pool is given to
/// offload(), and runs later, in any order. Everything in one thread.
class simulation {
 public:
  explicit simulation(std::uint64_t seed) : network_(seed), random_(seed ^ 0x9e3779b97f4a7c15U) {}

  [[nodiscard]] memory_network& network() noexcept { return network_; }
  [[nodiscard]] manual_clock& time() noexcept { return clock_; }
  [[nodiscard]] std::mt19937_64& random() noexcept { return random_; }

  /// A loop of this simulation, which drives it as well.
  event_loop& make_loop();
  /// Drives a loop that somebody else owns, until it is told to forget it.
  void drive(event_loop& loop) { driven_.push_back(&loop); }
  void forget(event_loop& loop) { std::erase(driven_, &loop); }
  /// As if a pool had it. The caller must have called its hand_off().
  void offload(work_item& item) { offloaded_.push_back(&item); }

  /// Turns loops and runs offloaded items until none has anything to do.
  void run_until_quiet();
  /// Moves the clock, in steps of at most `step`, and runs until quiet after each.
  void advance(duration by, duration step = std::chrono::milliseconds(10));

 private:
  bool step_once();

  manual_clock clock_;
  memory_network network_;
  std::mt19937_64 random_;
  std::deque<event_loop> loops_;
  std::vector<event_loop*> driven_, round_;  // the second: those of the round at hand
  std::vector<work_item*> offloaded_;
};

}  // namespace quintet
