// SPDX-License-Identifier: BSL-1.0
// connection_flags: the states of a connection, one byte per part and side; one compare finds it idle. Only a part
// writes its byte: it has the key. Also its silence: connection_silence.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>

namespace quintet::detail {

/// Life cycle of a connection. It only moves forward. doc/design.md has the same diagram: change both.
///
///   serving --drain()--> draining --close(), or all is answered--> closing --all is sent--> lingering --+
///      |                     |                                         |                                |
///      +------close()--------|----------------> closing                +--the peer has ended, or        |
///      |                     |                     |                      does not get the time--+      |
///      +-----an error--------+--------error--------+---------------------------------------------+------+--> ended
///
/// Zero is the state of most connections, so that it sets no bit of the compare.
enum class connection_phase : std::uint8_t {
  serving,
  draining,   ///< the server drains: input already received is answered, no other
  closing,    ///< close() was accepted: input is ignored, queued output leaves
  lingering,  ///< all output is sent and the peer was told; it has time to read and to close
  ended,      ///< on_close is scheduled or running, or another loop has the connection
};

/// Returns all flags of one side, for one compare with memory. std::bit_cast would load them into a register first.
template <class Flags>
[[nodiscard]] std::uint32_t word(const Flags& flags) noexcept {
  static_assert(sizeof flags == sizeof(std::uint32_t));
  std::uint32_t all;
  std::memcpy(&all, &flags, sizeof all);
  return all;
}

/// The right to write the flags of one part: only the part itself can make one. All flags may be read by everyone who
/// may read that side.
template <class Part>
class part_key {
  friend Part;
  constexpr part_key() noexcept = default;
};

// ---- The loop's side: written by the loop's thread at any time ------------------------------------------------------

struct handoff_loop_flags {
  bool slow_path : 1 = false;  ///< batches are not run by the session itself: those of coroutines and pools
  bool baton_out : 1 = false;
  bool baton_lent : 1 = false;     ///< a coroutine waits for a function that holds its baton on another thread
  bool has_messages : 1 = false;   ///< messages from other threads, not sorted yet
  bool close_asked : 1 = false;    ///< close was requested from outside, and not accepted yet
  bool was_cancelled : 1 = false;  ///< the request that the handler works on
  std::uint8_t unused : 2 = 0;
};
struct input_loop_flags {
  bool stopped : 1 = false;            ///< the engine does not read
  bool has_pending : 1 = false;        ///< input arrived that could not be delivered at once
  bool has_unseen : 1 = false;         ///< the handler returned the baton before it saw all unread input
  bool throttled : 1 = false;          ///< connections fed by this one are full
  bool peer_ended : 1 = false;         ///< nothing more will arrive
  bool was_reset : 1 = false;          ///< the stream broke; peer_ended follows, and connection_core has noted why
  bool has_more_to_drain : 1 = false;  ///< not all that had arrived before draining began has been received
  std::uint8_t unused : 1 = 0;
};
struct output_loop_flags {
  bool is_queued : 1 = false;  ///< the kernel has not taken all output
  bool above_watermark : 1 = false;
  bool partial_message : 1 = false;  ///< part of the handler's current output was sent, the rest not
  bool send_shut : 1 = false;        ///< the peer was told that no more follows
  bool send_failed : 1 = false;      ///< a send has failed: output is discarded, input is still delivered
  std::uint8_t unused : 3 = 0;

  [[nodiscard]] bool none() const noexcept { return std::bit_cast<std::uint8_t>(*this) == 0; }
};

struct connection_loop_flags {
  handoff_loop_flags handoff;
  input_loop_flags input;
  output_loop_flags output;
  connection_phase phase = connection_phase::serving;  ///< the coordinator's

  /// Returns whether no flag is set, or only these. With unused bits ignored, g++ tests them in memory.
  [[nodiscard]] bool none_but(handoff_loop_flags these) const noexcept {
    these.unused = 3;
    const connection_loop_flags ignored{.handoff = these, .input = {}, .output = {}};
    return (word(*this) & ~std::bit_cast<std::uint32_t>(ignored)) == 0;
  }
};

// ---- The baton's side: written by the baton's holder, and by the loop while it has the baton ------------------------

struct core_baton_flags {
  bool close_requested : 1 = false;
  bool has_reason : 1 = false;   ///< close() was given a reason
  bool draining : 1 = false;     ///< result of connection::draining()
  bool has_changes : 1 = false;  ///< of settings, stored input, counts or the migration target
  bool clock_runs : 1 = false;   ///< a time limit of input runs, and must learn of each batch; if not, of none
  // Only where there are time limits:
  bool stalled : 1 = false;         ///< in this batch no input was used, and nothing was written
  bool incomplete : 1 = false;      ///< the batch ended within a message
  bool is_new_message : 1 = false;  ///< that message began in this batch
};
struct handoff_baton_flags {
  bool handler_failed : 1 = false;
  bool has_calls : 1 = false;    ///< messages that need the baton
  bool was_skipped : 1 = false;  ///< the handler was not called for the batch
  std::uint8_t unused : 5 = 0;
};
struct input_baton_flags {
  bool is_lent : 1 = false;        ///< the batch lies in the engine's memory, for its loop only
  bool paused : 1 = false;         ///< by the handler
  bool has_unread : 1 = false;     ///< the handler left input unused
  bool requires_more : 1 = false;  ///< unread input is too short to be delivered again
  bool starts_tls : 1 = false;     ///< TLS begins once all output has left: nothing is delivered or written before
  std::uint8_t unused : 3 = 0;
};
struct output_baton_flags {
  bool checks_writes : 1 = false;  ///< write() must check before it appends
  bool quantum_used : 1 = false;   ///< the batch has written its quantum of this turn
  bool shutdown_requested : 1 = false;
  bool overflowed : 1 = false;      ///< a write exceeded max_output or the server's budget
  bool wants_writable : 1 = false;  ///< run_writable() must precede more input
  bool yields : 1 = false;          ///< the handler left input unused until there is room for output
  bool reads_on : 1 = false;        ///< with wants_writable: a read waits as well, and input is delivered to it
  std::uint8_t unused : 1 = 0;
};

struct connection_baton_flags {
  core_baton_flags core;
  handoff_baton_flags handoff;
  input_baton_flags input;
  output_baton_flags output;

  /// As none_but() above.
  [[nodiscard]] bool none() const noexcept {
    constexpr connection_baton_flags ignored{.core = {}, .handoff = {.unused = 31}, .input = {}, .output = {}};
    return (word(*this) & ~std::bit_cast<std::uint32_t>(ignored)) == 0;
  }
};

/// Constant: any thread may read it, as the registry does for the rebalancer.
struct handoff_constants {
  bool keeps_baton : 1 = false;   ///< a coroutine keeps the baton after a batch
  bool runs_here : 1 = false;     ///< the thread model always runs a batch inline
  bool is_watched : 1 = false;    ///< there is a watchdog
  bool can_move : 1 = false;      ///< the handler may move to an object on another loop
  bool can_secure : 1 = false;    ///< TLS may begin in mid-stream: all input goes to the handler, and to nobody before
  bool reads_freely : 1 = false;  ///< the handler asks for each piece of input: waiting output does not hold it
};

/// Optional callbacks of the handler. Callbacks that run once clear their bit.
struct enabled_callbacks {
  bool open : 1 = false, read_eof : 1 = false, drain : 1 = false, writable : 1 = false, overload : 1 = false;
  bool limit : 1 = false;
  bool classify : 1 = false;  ///< until the connection's class is known
  bool close : 1 = false;     ///< the session is open; it may ask for the peer after the end
};

/// How long a connection has received nothing: counts the heartbeat monitor's looks since the last received byte. Also
/// remembers whether anything was received since the rebalancer's mark. Receiving costs one store.
class connection_silence {
 public:
  /// [loop] Records that something was received.
  void end() noexcept { std::atomic_ref(state_).store(0, std::memory_order_relaxed); }
  [[nodiscard]] std::uint32_t looks() noexcept { return load() & ~(marked | unbroken); }
  /// [loop] Returns whether nothing has been received yet.
  [[nodiscard]] bool is_unbroken() noexcept { return (load() & unbroken) != 0; }
  /// [any thread] Counts one look; returns the count before it. A look that races with end() is lost, unless the
  /// silence had just begun.
  std::uint32_t look() noexcept {
    std::uint32_t before = load();
    std::atomic_ref(state_).compare_exchange_strong(before, before + 1, std::memory_order_relaxed);
    return before & ~(marked | unbroken);
  }
  /// [any thread] Sets the rebalancer's mark, which end() clears.
  void mark() noexcept { std::atomic_ref(state_).fetch_or(marked, std::memory_order_relaxed); }
  [[nodiscard]] bool is_marked() noexcept { return (load() & marked) != 0; }

 private:
  static constexpr std::uint32_t marked = 1U << 31U, unbroken = 1U << 30U;
  [[nodiscard]] std::uint32_t load() noexcept { return std::atomic_ref(state_).load(std::memory_order_relaxed); }
  std::uint32_t state_ = unbroken;
};

}  // namespace quintet::detail
