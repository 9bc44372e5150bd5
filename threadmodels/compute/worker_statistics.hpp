// SPDX-License-Identifier: BSL-1.0
// worker_statistics: what a model's pool of threads has done, and why: a count for each reason, and the last decisions.
#pragma once

#include "../../base/clock.hpp"
#include "../../base/enum_names.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace quintet {

enum class worker_event : std::uint8_t {
  grown_at_once,      ///< nobody was free, and nobody would look again: no loop has submitted it
  grown_for_latency,  ///< work had waited for longer than worker_limits::queue_latency
  grown_when_stuck,   ///< work waited, and no worker had begun anything for worker_limits::stuck_time
  refused,            ///< the system would not start another thread
  left_idle,          ///< a thread had had nothing to do for long
  overload_begins,    ///< with all threads at work, something has waited for worker_limits::overload_latency
  overload_ends,      ///< what is begun has waited for less than half of that
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
  unsigned threads = 0;    ///< after it
  std::size_t queued = 0;  ///< work that waited then
  duration waited{};       ///< the oldest of it
};

/// All 0 where there is no pool.
struct worker_statistics {
  std::uint64_t threads = 0;  ///< now
  std::uint64_t wakes = 0;    ///< workers that were woken, a futex call each
  std::uint64_t grown_at_once = 0, grown_for_latency = 0, grown_when_stuck = 0;  ///< threads above `min`; worker_event
  std::uint64_t left_idle = 0;        ///< threads that ended because they had been idle
  std::uint64_t refused = 0;          ///< threads that the system would not start
  std::uint64_t overloads = 0;        ///< times that an overload began
  std::uint64_t shed = 0;             ///< batches that were answered by on_overload
  std::uint64_t longest_wait_ns = 0;  ///< of expensive work
  /// [any thread] The last of them, the oldest first.
  std::vector<worker_decision> decisions;

  [[nodiscard]] std::uint64_t grown() const noexcept { return grown_at_once + grown_for_latency + grown_when_stuck; }
};

}  // namespace quintet
