// SPDX-License-Identifier: BSL-1.0
// loop_counters: the counters of a loop, and their sums over loops.
#pragma once

#include "../../base/metrics/counter.hpp"

#include <cstddef>
#include <cstdint>

namespace quintet {

/// The figures of a loop. Each figure is declared here and listed in each().
template <class Value>
struct loop_figures {
  Value turns{};     ///< turns of the loop: polls of its engine
  Value opened{};    ///< connections opened on this loop
  Value closed{};    ///< connections closed on this loop
  Value receives{};  ///< receive calls that returned bytes
  Value bytes_received{};
  Value batches{};  ///< handler calls, and `skipped` batches
  Value sends{};    ///< send calls
  Value bytes_sent{};
  Value handler_errors{};   ///< handlers and callbacks that left with an exception
  Value evicted{};          ///< connections that the heartbeat monitor closed as silent
  Value dropped{};          ///< writes and sends dropped by overflow_policy::drop
  Value skipped{};          ///< batches and functions of offload() never begun, as nobody waits for them
  Value checksum_errors{};  ///< messages whose checksum was wrong; see checked
  Value spins_paid{};       ///< spins that ended with work within the budget; see loop_tuning::spin
  Value spins_failed{};     ///< spins without work within the budget
  // Parts of sends: send calls that the end of a batch did not cause.
  Value sends_flushed{};   ///< by flush(), or by the end of a cork
  Value sends_full{};      ///< a batch has written more than is kept until its end
  Value sends_outside{};   ///< for other threads' sends: at the end of the turn, or at once if large
  Value sends_resumed{};   ///< the kernel has buffer space again
  Value bytes_in_place{};  ///< received bytes that went without a copy into their message

  Value urgent{};      ///< urgent messages answered ahead of others
  Value moved_here{};  ///< connections that migrated to this loop
  Value moved_away{};  ///< connections that migrated to another loop, which counts their end

  /// Calls f(name, figure...) for each figure, with that figure of each object in `of`.
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
    f("skipped", of.skipped...);
    f("checksum_errors", of.checksum_errors...);
    f("spins_paid", of.spins_paid...);
    f("spins_failed", of.spins_failed...);
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
  /// [any thread] Returns the number of connections now on this loop.
  [[nodiscard]] std::uint64_t open() const noexcept {
    const std::uint64_t gone = closed.value() + moved_away.value();  // read first, so that the result is never negative
    return opened.value() + moved_here.value() - gone;
  }
  /// [loop] Counts one receive call.
  void received(std::size_t size) noexcept {
    receives.add();
    bytes_received.add(size);
  }
  void sent(std::size_t size) noexcept {
    sends.add();
    bytes_sent.add(size);
  }
  /// [loop] Adds the counters of another loop, which has ended.
  void add(const loop_counters& other) noexcept {
    each([](const char*, counter& mine, const counter& others) { mine.add(others.value()); }, *this, other);
  }
};

/// A sum over loops. The figures are read one by one while the loops run, so they are not one snapshot.
struct loop_statistics : figure_sums<loop_figures> {};

}  // namespace quintet
