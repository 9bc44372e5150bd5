// SPDX-License-Identifier: BSL-1.0
// composed_model: a threading model made of a placement and a compute.
#pragma once

#include "compute/compute.hpp"
#include "compute/run_aside.hpp"
#include "placement/placement.hpp"

#include <utility>

namespace quintet {

/// Inherits all, so that thread_model finds the optional functions that one of them has.
template <class Placement, class Compute>
class composed_model : public Placement, public Compute, public run_aside {
 public:
  /// Takes both over.
  explicit composed_model(Placement p = Placement(), Compute c = Compute())
      : Placement(std::move(p)), Compute(std::move(c)) {}
  /// [before run] Gives handshakes so many threads. 0: the loops compute them.
  void use_handshake_threads(unsigned most) { static_cast<run_aside&>(*this) = run_aside(most); }

  /// [loop] Main loop only.
  void start(event_loop& main) {
    Compute::start();
    Placement::start(main);
  }
  /// [any thread] Adds what the compute counts.
  void add_to(model_figures& sum) const {
    if constexpr (requires(const Compute& c) { c.offloads(); })
      static_cast<offload_statistics&>(sum) = this->offloads();
    if constexpr (requires(const Compute& c) { c.workers(); }) sum.workers = this->workers();
  }
  /// [loop] Main loop only. Stops the loops before the threads: a loop ends when its connections have closed, and their
  /// work may be on a thread.
  void stop() noexcept {
    Placement::stop();
    Compute::stop();
  }
};

}  // namespace quintet
