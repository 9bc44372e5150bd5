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

namespace quintet::testing {

/// Drives loops by hand on one thread, in an order that the seed decides. Tests pass a pool's work items to offload();
/// the simulation runs them later, in random order. Not synchronised.
class simulation {
 public:
  /// The seed decides all random choices.
  explicit simulation(std::uint64_t seed) : network_(seed), random_(seed ^ 0x9e3779b97f4a7c15U) {}

  /// Return the network, the clock and the random numbers of this simulation.
  [[nodiscard]] memory_network& network() noexcept { return network_; }
  [[nodiscard]] manual_clock& time() noexcept { return clock_; }
  [[nodiscard]] std::mt19937_64& random() noexcept { return random_; }

  /// Makes a loop that this simulation owns and drives.
  event_loop& make_loop();
  /// Drives a loop that the caller owns. The caller must forget() it before destroying it.
  void drive(event_loop& loop) { driven_.push_back(&loop); }
  void forget(event_loop& loop) { std::erase(driven_, &loop); }
  /// Runs `item` later, as a pool would. The caller must have called its hand_off().
  void offload(work_item& item) { offloaded_.push_back(&item); }

  /// Polls loops and runs offloaded items until no work is left.
  void run_until_quiet();
  /// Runs until quiet, then advances the clock by `by`, in steps of at most `step`; runs until quiet after each.
  void advance(duration by, duration step = std::chrono::milliseconds(10));

 private:
  bool step_once();
  void run_offloaded();

  manual_clock clock_;
  memory_network network_;
  std::mt19937_64 random_;
  std::deque<event_loop> loops_;
  std::vector<event_loop*> driven_, round_;  // round_: the loops of the current round
  std::vector<work_item*> offloaded_;
};

}  // namespace quintet::testing
