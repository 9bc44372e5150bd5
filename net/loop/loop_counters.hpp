// SPDX-License-Identifier: BSL-1.0
// loop_counters: what a loop counts as it works, and sums of that over loops.
#pragma once

#include "../../base/metrics/counter.hpp"

#include <cstddef>
#include <cstdint>

namespace quintet {

/// The figures of a loop. A figure is declared here, and listed in each().
template <class Value>
struct loop_figures {
  Value turns{};     ///< times that the loop asked its engine what is ready
  Value opened{};    ///< connections that began on this loop
  Value closed{};    ///< connections that ended on it
  Value receives{};  ///< receive calls that brought bytes
  Value bytes_received{};
  Value batches{};  ///< times that a handler was called
  Value sends{};    ///< send calls
  Value bytes_sent{};
  Value handler_errors{};  ///< handlers, and callbacks of timers, that left with an exception
  Value evicted{};         ///< connections that the heartbeat monitor has found silent for too long
  Value dropped{};         ///< writes and sends that overflow_policy::drop has dropped
  Value spins_paid{};      ///< times that the loop spun instead of sleeping, and work came; see loop_tuning::spin
  Value spins_in_vain{};   ///< times that none came within the budget
  // Of the send calls, those that were not made because a batch had ended:
  Value sends_flushed{};  ///< by flush(), or at the end of a cork
  Value sends_full{};     ///< a batch has written more than waits for its end
  Value sends_outside{};  ///< of what other threads have sent: at the end of the loop's turn, or at once if it is large
  Value sends_resumed{};  ///< the kernel has room again
  Value bytes_in_place{};  ///< of the bytes received: without a copy, into the message that they belong to

  Value urgent{};      ///< messages that were answered ahead of others
  Value moved_here{};  ///< connections that came from another loop
  Value moved_away{};  ///< connections that went on to another loop, where they are closed

  /// Calls f(name, figure...) for each figure, with that figure of each object.
  template <class F, class... Figures>
  static constexpr void each(F f, Figures&... of) {
    f("turns", of.turns...);
    f("opened", of.opened...);
    f("closed", of.closed...);
    f("receives", of.receives...);
    f("bytes_received", of.bytes_received...);
    f("batches", of.batches...);
    f("sends", of.sends...);
    f("bytes_sent", of.bytes_sent...);
    f("handler_errors", of.handler_errors...);
    f("evicted", of.evicted...);
    f("dropped", of.dropped...);
    f("spins_paid", of.spins_paid...);
    f("spins_in_vain", of.spins_in_vain...);
    f("sends_flushed", of.sends_flushed...);
    f("sends_full", of.sends_full...);
    f("sends_outside", of.sends_outside...);
    f("sends_resumed", of.sends_resumed...);
    f("bytes_in_place", of.bytes_in_place...);
    f("urgent", of.urgent...);
    f("moved_here", of.moved_here...);
    f("moved_away", of.moved_away...);
  }
};

/// Written by one loop's thread, read by any.
struct loop_counters : loop_figures<counter> {
  /// [any thread] Connections that are on this loop now.
  [[nodiscard]] std::uint64_t open() const noexcept {
    const std::uint64_t gone = closed.value() + moved_away.value();  // first: never more than have come
    return opened.value() + moved_here.value() - gone;
  }
  /// [loop] By one call.
  void received(std::size_t size) noexcept {
    receives.add();
    bytes_received.add(size);
  }
  void sent(std::size_t size) noexcept {
    sends.add();
    bytes_sent.add(size);
  }
  /// [loop] Takes over what another loop, which has ended, has counted.
  void add(const loop_counters& other) noexcept {
    each([](const char*, counter& mine, const counter& others) { mine.add(others.value()); }, *this, other);
  }
};

/// The sum over loops at some moment. The figures are read one by one while the loops go on.
struct loop_statistics : figure_sums<loop_figures> {};

}  // namespace quintet
