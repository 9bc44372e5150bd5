// SPDX-License-Identifier: BSL-1.0
// offload_statistics: how many batches loops have run themselves under offload_policy::adaptive, and why others went.
#pragma once

#include "../../base/metrics/counter.hpp"

#include <cstddef>
#include <cstdint>

namespace quintet {

/// The figures of a loop. A figure is declared here, and listed in each().
template <class Value>
struct offload_figures {
  // Each batch of a callback handler is in one of these:
  Value batches_inline{};      ///< run by the loop, because it seemed cheap
  Value offloads_unknown{};    ///< handed off: nothing was known of its cost
  Value offloads_expensive{};  ///< handed off: it seemed expensive
  Value offloads_held_back{};  ///< handed off: too much that seemed cheap was not; see offload_options
  // Of those run by the loop:
  Value mispredicted{};     ///< cost more than offload_options::threshold
  Value mispredicted_ns{};  ///< the nanoseconds that these took

  /// Calls f(name, figure...) for each figure, with that figure of each object.
  template <class F, class... Figures>
  static constexpr void each(F f, Figures&... of) {
    f("batches_inline", of.batches_inline...);
    f("offloads_unknown", of.offloads_unknown...);
    f("offloads_expensive", of.offloads_expensive...);
    f("offloads_held_back", of.offloads_held_back...);
    f("mispredicted", of.mispredicted...);
    f("mispredicted_ns", of.mispredicted_ns...);
  }
};

/// Written by one loop's thread, read by any.
using offload_counters = offload_figures<counter>;

/// The sum over loops at some moment. All 0 where nothing is adaptive.
struct offload_statistics : figure_sums<offload_figures> {};

}  // namespace quintet
