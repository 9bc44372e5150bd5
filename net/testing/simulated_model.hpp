// SPDX-License-Identifier: BSL-1.0
// simulated_model: the five models without threads: n loops, and handlers inline or on a simulated pool.
#pragma once

#include "../loop/thread_model.hpp"
#include "simulation.hpp"

#include <cstddef>
#include <vector>

namespace quintet::testing {

/// A thread_model for basic_server and basic_client, driven by a simulation: shows a handler the orders of events of
/// all five models. The simulation must outlive it.
class simulated_model {
 public:
  /// `loops` 0: everything runs on the main loop. `pooled`: batches run later, in any order of connections, as on a
  /// pool; else at once.
  simulated_model(simulation& sim, std::size_t loops, bool pooled) : sim_(&sim), pooled_(pooled) {
    for (std::size_t i = 0; i < loops; ++i) loops_.push_back(&sim.make_loop());
  }

  void start(event_loop& main) {
    main_ = &main;
    if (loops_.empty()) loops_.push_back(&main);
  }
  event_loop& place() { return *loops_[next_++ % loops_.size()]; }
  void run(work_item& item) noexcept {
    if (!pooled_) return item();
    item.hand_off();
    sim_->offload(item);
  }
  /// The optional functions of a thread_model. Steps of handshakes are on the simulated pool, too.
  void aside(work_item& item) noexcept {
    item.hand_off();
    sim_->offload(item);
  }
  [[nodiscard]] unsigned aside_threads() const noexcept { return pooled_ ? 1 : 0; }
  template <class F>
  void each_loop(F f) {
    for (event_loop* loop : loops_) f(*loop);
  }
  /// Calls f for the counters of each loop but the main one.
  template <class F>
  void each_counters(F f) const {
    for (event_loop* loop : loops_)
      if (loop != main_) f(loop->counters());
  }
  /// Ends the loops, and runs what waits.
  void stop() {
    for (event_loop* loop : loops_) loop->stop();
    sim_->run_until_quiet();
  }

 private:
  simulation* sim_;
  event_loop* main_ = nullptr;
  bool pooled_;
  std::vector<event_loop*> loops_;
  std::size_t next_ = 0;
};
static_assert(thread_model<simulated_model>);

}  // namespace quintet::testing
