// SPDX-License-Identifier: BSL-1.0
// composed_model: a threading model is a placement and a compute, and nothing else.
#pragma once

#include "compute/compute.hpp"
#include "placement/placement.hpp"

#include <utility>

namespace quintet {

/// Has the verbs of both, which thread_model lists.
template <class Placement, class Compute>
class composed_model : public Placement, public Compute {
 public:
  explicit composed_model(Placement p = Placement(), Compute c = Compute())
      : Placement(std::move(p)), Compute(std::move(c)) {}

  /// [loop] The main loop's.
  void start(event_loop& main) {
    Compute::start();
    Placement::start(main);
  }
  /// [loop] The main loop's. Loops end first: a loop ends when its connections have left, and their work may be on the
  /// pool.
  void stop() noexcept {
    Placement::stop();
    Compute::stop();
  }
};

}  // namespace quintet
