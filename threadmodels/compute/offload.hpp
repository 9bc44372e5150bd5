// SPDX-License-Identifier: BSL-1.0
// offload: whether a model with a pool hands every batch to it, or only those that are worth it.
#pragma once

#include "../../base/clock.hpp"
#include "../../base/enum_names.hpp"

#include <array>
#include <chrono>

namespace quintet {

/// For the models with a pool, reactor_pool and loop_per_thread_pool; the others have nothing to hand off.
enum class offload_policy {
  automatic,  ///< adaptive in loop_per_thread_pool and in run_adaptive, always in reactor_pool
  always,     ///< a callback handler never runs on a loop: it may wait for whatever it likes
  adaptive,   ///< a batch that will cost less than its way to the pool and back is run by the loop itself
};

template <>
inline constexpr auto enum_names<offload_policy> =
    std::to_array<enum_name<offload_policy>>({{offload_policy::automatic, "automatic"},
                                              {offload_policy::always, "always"},
                                              {offload_policy::adaptive, "adaptive"}});

/// The cost of a batch is predicted from earlier ones: those of its connection or, for a new connection, of its loop.
/// The prediction may be wrong: a handler that was cheap a hundred times waits for a lock, and with it all connections
/// of its loop. Such a connection goes to the pool the next time. The time of all such overruns is bounded: in any time
/// t a loop loses at most `inline_overrun_burst + inline_overrun_ratio * t`, and the one batch that goes beyond.
struct offload_options {
  offload_policy policy = offload_policy::automatic;
  duration threshold = std::chrono::microseconds(20);  ///< a batch that takes no longer is cheap, any other expensive
  double inline_overrun_ratio = 0.005;                 ///< above 0, and at most 1: then nothing is held back
  duration inline_overrun_burst = std::chrono::milliseconds(10);  ///< not below 0
};

/// Throws config_error.
void validate(const offload_options& options);

}  // namespace quintet
