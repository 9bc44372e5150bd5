// SPDX-License-Identifier: BSL-1.0
// model_statistics: counters of a model's pool and of its loops' offloading, and why the pool grew or shrank.
#pragma once

#include "../../base/clock.hpp"
#include "../../base/enum_names.hpp"
#include "../../base/metrics/counter.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace quintet {

/// Figures of one loop under offload_policy::adaptive. Each is declared here and listed in each().
template <class Value>
struct offload_figures {
  // Each batch of a callback handler counts in one of these:
  Value batches_inline{};      ///< run by the loop: predicted cheap
  Value offloads_unknown{};    ///< handed off: no prediction
  Value offloads_expensive{};  ///< handed off: predicted expensive
  Value offloads_held_back{};  ///< handed off: the bound for wrong predictions was reached; see offload_options
  // A batch of batches_inline counts here too if its prediction was wrong:
  Value mispredicted{};     ///< took more than offload_options::threshold
  Value mispredicted_ns{};  ///< nanoseconds that these took

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

/// Written by one loop's thread, read by any thread.
using offload_counters = offload_figures<counter>;

/// Sum over all loops at some moment. All 0 without adaptive offloading.
struct offload_statistics : figure_sums<offload_figures> {};

/// A decision of the pool.
enum class worker_event : std::uint8_t {
  grown_at_once,      ///< no worker was free, and no loop had submitted the work, so nothing would check again
  grown_for_latency,  ///< work had waited longer than worker_limits::queue_latency
  grown_when_stuck,   ///< work waited, and no worker had begun any for worker_limits::stuck_time
  refused,            ///< the system refused to start another thread
  left_idle,          ///< a thread ended after worker_limits::idle_time
  overload_begins,    ///< all threads work, and work has waited for worker_limits::overload_latency
  overload_ends,      ///< begun work had waited for less than half of that
};

template <>
inline constexpr auto enum_names<worker_event> =
    std::to_array<enum_name<worker_event>>({{worker_event::grown_at_once, "grown_at_once"},
                                            {worker_event::grown_for_latency, "grown_for_latency"},
                                            {worker_event::grown_when_stuck, "grown_when_stuck"},
                                            {worker_event::refused, "refused"},
                                            {worker_event::left_idle, "left_idle"},
                                            {worker_event::overload_begins, "overload_begins"},
                                            {worker_event::overload_ends, "overload_ends"}});

struct worker_decision {
  time_point when;
  worker_event what = worker_event::grown_at_once;
  unsigned threads = 0;    ///< after the decision
  std::size_t queued = 0;  ///< items that waited then
  duration waited{};       ///< waiting time of the oldest item
};

/// All 0 without a pool.
struct worker_statistics {
  std::uint64_t threads = 0;  ///< now
  std::uint64_t wakes = 0;    ///< workers woken, one futex call each
  std::uint64_t grown_at_once = 0, grown_for_latency = 0,
                grown_when_stuck = 0;  ///< threads added above `min`, see worker_event
  std::uint64_t left_idle = 0;         ///< threads that ended after idle_time
  std::uint64_t refused = 0;           ///< threads that the system refused to start
  std::uint64_t overloads = 0;         ///< times that an overload began
  std::uint64_t shed = 0;              ///< batches that on_overload answered
  std::uint64_t longest_wait_ns = 0;   ///< longest wait of expensive work
  /// [any thread] The latest decisions, oldest first.
  std::vector<worker_decision> decisions;

  [[nodiscard]] std::uint64_t grown() const noexcept { return grown_at_once + grown_for_latency + grown_when_stuck; }
};

/// What a model counts beside its loops. All 0 without a pool.
struct model_figures : offload_statistics {
  worker_statistics workers;
};

/// Adds the figures of the threading model to `Base`: server_statistics or client_statistics.
template <class Base>
struct with_compute : Base, model_figures {};

}  // namespace quintet
