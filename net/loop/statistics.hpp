// SPDX-License-Identifier: BSL-1.0
// statistics: what a loop counts as it works, and the sum over the loops of a server or a client.
#pragma once

#include "../../base/metrics/counter.hpp"
#include "../../base/metrics/log2_histogram.hpp"
#include "thread_scheduling.hpp"
#include "worker_statistics.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace quintet {

/// Written by one loop's thread, read by any.
struct loop_counters {
  counter turns;     ///< times that the loop asked its engine what is ready
  counter opened;    ///< connections that began on this loop
  counter closed;    ///< connections that ended on it
  counter receives;  ///< receive calls that brought bytes
  counter bytes_received;
  counter batches;  ///< times that a handler was called
  counter sends;    ///< send calls
  counter bytes_sent;
  counter handler_errors;  ///< handlers, and callbacks of timers, that left with an exception
  counter evicted;         ///< connections that the heartbeat monitor has found silent for too long
  counter dropped;         ///< writes and sends that when_full::drop has dropped
  counter spins_paid;      ///< times that the loop spun instead of sleeping, and work came; see config::spin
  counter spins_in_vain;   ///< times that none came within the budget
  // Of the send calls, those that were not made because a batch had ended:
  counter sends_flushed;  ///< by flush(), or at the end of a cork
  counter sends_full;     ///< a batch has written more than waits for its end
  counter sends_outside;  ///< of what other threads have sent: at the end of the loop's turn, or at once if it is large
  counter sends_resumed;  ///< the kernel has room again
  counter bytes_in_place;  ///< of the bytes received: without a copy, into the message that they belong to
  // With a pool and offload_policy::adaptive, each batch of a callback handler is in one of these:
  counter batches_inline;      ///< run by the loop, because it seemed cheap
  counter offloads_unknown;    ///< handed to the pool: nothing was known of its cost
  counter offloads_dear;       ///< it seemed dear
  counter offloads_held_back;  ///< too much that seemed cheap was not; see offload_options
  // Of those run by the loop:
  counter misjudged;     ///< cost more than offload_options::threshold
  counter misjudged_ns;  ///< the nanoseconds that these took

  counter urgent;      ///< messages that were answered ahead of others
  counter moved_here;  ///< connections that came from another loop
  counter moved_away;  ///< connections that went on to another loop, where they are closed

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
    turns.add(other.turns.value());
    opened.add(other.opened.value());
    closed.add(other.closed.value());
    receives.add(other.receives.value());
    bytes_received.add(other.bytes_received.value());
    batches.add(other.batches.value());
    sends.add(other.sends.value());
    bytes_sent.add(other.bytes_sent.value());
    handler_errors.add(other.handler_errors.value());
    evicted.add(other.evicted.value());
    dropped.add(other.dropped.value());
    spins_paid.add(other.spins_paid.value());
    spins_in_vain.add(other.spins_in_vain.value());
    sends_flushed.add(other.sends_flushed.value());
    sends_full.add(other.sends_full.value());
    sends_outside.add(other.sends_outside.value());
    sends_resumed.add(other.sends_resumed.value());
    bytes_in_place.add(other.bytes_in_place.value());
    batches_inline.add(other.batches_inline.value());
    offloads_unknown.add(other.offloads_unknown.value());
    offloads_dear.add(other.offloads_dear.value());
    offloads_held_back.add(other.offloads_held_back.value());
    misjudged.add(other.misjudged.value());
    misjudged_ns.add(other.misjudged_ns.value());
    urgent.add(other.urgent.value());
    moved_here.add(other.moved_here.value());
    moved_away.add(other.moved_away.value());
  }
};

/// The sum over loops at some moment. The fields are read one by one while the loops go on.
struct loop_statistics {
  std::uint64_t turns = 0, opened = 0, closed = 0, receives = 0, bytes_received = 0;
  std::uint64_t batches = 0, sends = 0, bytes_sent = 0, handler_errors = 0, evicted = 0, dropped = 0;
  std::uint64_t spins_paid = 0, spins_in_vain = 0;
  std::uint64_t sends_flushed = 0, sends_full = 0, sends_outside = 0, sends_resumed = 0;
  std::uint64_t bytes_in_place = 0;
  std::uint64_t batches_inline = 0, offloads_unknown = 0, offloads_dear = 0, offloads_held_back = 0;
  std::uint64_t misjudged = 0, misjudged_ns = 0;
  std::uint64_t urgent = 0, moved_here = 0, moved_away = 0;

  void add(const loop_counters& c) noexcept {
    turns += c.turns.value();
    opened += c.opened.value();
    closed += c.closed.value();
    receives += c.receives.value();
    bytes_received += c.bytes_received.value();
    batches += c.batches.value();
    sends += c.sends.value();
    bytes_sent += c.bytes_sent.value();
    handler_errors += c.handler_errors.value();
    evicted += c.evicted.value();
    dropped += c.dropped.value();
    spins_paid += c.spins_paid.value();
    spins_in_vain += c.spins_in_vain.value();
    sends_flushed += c.sends_flushed.value();
    sends_full += c.sends_full.value();
    sends_outside += c.sends_outside.value();
    sends_resumed += c.sends_resumed.value();
    bytes_in_place += c.bytes_in_place.value();
    batches_inline += c.batches_inline.value();
    offloads_unknown += c.offloads_unknown.value();
    offloads_dear += c.offloads_dear.value();
    offloads_held_back += c.offloads_held_back.value();
    misjudged += c.misjudged.value();
    misjudged_ns += c.misjudged_ns.value();
    urgent += c.urgent.value();
    moved_here += c.moved_here.value();
    moved_away += c.moved_away.value();
  }
};

/// Of the priority lane; all 0 where there is none.
struct priority_statistics {
  std::uint64_t accepted = 0;
  std::uint64_t open = 0;               ///< now
  std::uint64_t descriptors_given = 0;  ///< of the reserve, to accept with when no others could be had
  std::uint64_t memory_given = 0;       ///< times that a connection was made with the memory of the reserve
  thread_scheduling scheduling;
};

/// Of the heartbeat monitor; all 0 where it is off.
struct heartbeat_statistics {
  std::uint64_t looks = 0;            ///< at all connections
  std::uint64_t pings = 0;            ///< on their way to connections that were silent
  std::uint64_t breaches = 0;         ///< looks that came later than heartbeat_options::lateness_bound
  log2_histogram::snapshot lateness;  ///< of the looks, in nanoseconds
};

struct server_statistics : loop_statistics {
  std::uint64_t accepted = 0;
  std::uint64_t accept_errors = 0;     ///< of the system's accept, such as no descriptors; nobody was dropped
  std::uint64_t accepted_locally = 0;  ///< by a loop that stays on a CPU, and received by the kernel on the same CPU
  std::vector<std::uint64_t> accepted_by_each;  ///< the loops that accept, each of them; not the priority lane
  std::uint64_t refused = 0;                    ///< accepted and closed at once, see accept_limits::on_refused
  std::uint64_t rebalanced = 0;                 ///< times that connections were asked to move, see rebalance_options
  std::uint64_t sends_priority = 0;             ///< of the send calls: those of the priority lane
  priority_statistics priority;
  heartbeat_statistics heartbeat;
  std::uint64_t stalls = 0;  ///< that the watchdog has told of; see stall_options
  worker_statistics workers;
};

struct client_statistics : loop_statistics {
  std::uint64_t attempts = 0;  ///< to connect
  std::uint64_t failures = 0;  ///< of these attempts
  worker_statistics workers;
};

}  // namespace quintet
