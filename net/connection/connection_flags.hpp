// SPDX-License-Identifier: BSL-1.0
// connection_flags: the states of a connection, one byte for each part and side, so that one compare finds it idle.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace quintet::detail {

/// Where a connection is in its life. It only moves forward. doc/design.md has the same diagram: change both.
///
///   serving --drain()--> draining --close(), or all is answered--> closing --all is sent--> lingering --+
///      |                     |                                         |                                |
///      +------close()--------|----------------> closing                +--the peer has ended, or        |
///      |                     |                     |                      does not get the time--+      |
///      +-----an error--------+--------error--------+---------------------------------------------+------+--> ended
///
/// The zero is what most connections are, so that it takes no bit of the compare.
enum class connection_phase : std::uint8_t {
  serving,
  draining,   ///< the server drains: what had been received is answered, and nothing else
  closing,    ///< close() was accepted: no input is looked at, and queued output leaves
  lingering,  ///< everything is sent and the peer knows; the peer has time to read and to close
  ended,      ///< on_close is scheduled or running, or another loop has the connection
};

/// All flags of one side, for one compare with memory. std::bit_cast would load them into a register first.
template <class Flags>
[[nodiscard]] std::uint32_t word(const Flags& flags) noexcept {
  static_assert(sizeof flags == sizeof(std::uint32_t));
  std::uint32_t all;
  std::memcpy(&all, &flags, sizeof all);
  return all;
}

// ---- The loop's side: written by the loop's thread at any time ------------------------------------------------------

struct handoff_loop_flags {
  bool slow_path : 1 = false;  ///< always: a coroutine's, a watched one's, or its batches go elsewhere
  bool baton_out : 1 = false;
  bool counts_as_writer : 1 = false;  ///< the baton is out, on another thread, for a turn of on_writable
  bool has_messages : 1 = false;      ///< from other threads, not looked at yet
  bool close_asked : 1 = false;       ///< from outside, while the baton was out
  std::uint8_t unused : 3 = 0;
};
struct input_loop_flags {
  bool stopped : 1 = false;      ///< the engine does not read
  bool has_pending : 1 = false;  ///< input has arrived that the handler could not be given at once
  bool throttled : 1 = false;    ///< connections that this one feeds are full
  bool peer_ended : 1 = false;   ///< nothing will arrive any more
  std::uint8_t unused : 4 = 0;
};
struct output_loop_flags {
  bool is_queued : 1 = false;  ///< the kernel has not taken everything
  bool above_watermark : 1 = false;
  bool partial_message : 1 = false;  ///< a part of what the handler is writing has left, and the rest has not
  bool send_shut : 1 = false;        ///< the peer has been told that nothing more comes
  std::uint8_t unused : 4 = 0;

  [[nodiscard]] bool none() const noexcept { return std::bit_cast<std::uint8_t>(*this) == 0; }
};

struct connection_loop_flags {
  handoff_loop_flags handoff;
  input_loop_flags input;
  output_loop_flags output;
  connection_phase phase = connection_phase::serving;

  [[nodiscard]] bool none() const noexcept { return word(*this) == 0; }
  [[nodiscard]] bool only_baton_out() const noexcept {
    constexpr connection_loop_flags that{.handoff = {.baton_out = true}, .input = {}, .output = {}};
    return word(*this) == std::bit_cast<std::uint32_t>(that);
  }
  [[nodiscard]] bool none_but_slow_path() const noexcept {
    connection_loop_flags others = *this;
    others.handoff.slow_path = false;
    return others.none();
  }
};

// ---- The baton's side: written by whoever holds the baton; the loop writes it while it has the baton ----------------

struct handoff_baton_flags {
  bool close_requested : 1 = false;
  bool has_reason : 1 = false;      ///< close() was told one
  bool wants_writable : 1 = false;  ///< run_writable() comes before more input
  bool handler_failed : 1 = false;
  bool draining : 1 = false;  ///< what connection::draining() says
  bool has_calls : 1 = false;
  bool has_changes : 1 = false;  ///< of settings
  bool timed : 1 = false;        ///< there are deadlines
};
struct input_baton_flags {
  bool paused : 1 = false;         ///< by the handler
  bool has_unread : 1 = false;     ///< input that the handler has left
  bool requires_more : 1 = false;  ///< what is unread is not delivered again before it is so long
  std::uint8_t unused : 5 = 0;
};
struct output_baton_flags {
  bool shutdown_requested : 1 = false;
  bool quantum_used : 1 = false;  ///< the batch has written its quantum of this turn
  bool has_dropped : 1 = false;
  bool overflowed : 1 = false;  ///< more was written than max_output
  std::uint8_t unused : 4 = 0;
};
/// How the batch at hand has used its input; for time limits. No reason to leave the fast path.
struct batch_flags {
  bool input_is_lent : 1 = false;  ///< the batch is the engine's, and its loop's for now
  bool progressed : 1 = false;     ///< input was used, or something was written
  bool incomplete : 1 = false;     ///< the batch has ended within a message, which
  bool begun_anew : 1 = false;     ///< has begun in this batch
  bool lost : 1 = false;           ///< there was no memory to hand the batch over
};

struct connection_baton_flags {
  handoff_baton_flags handoff;
  input_baton_flags input;
  output_baton_flags output;
  bool checks_writes = false;  ///< write() may not just append to the chunk there is; a byte, since each write tests it

  [[nodiscard]] bool none() const noexcept { return word(*this) == 0; }
};

/// Constant: any thread may look, as the registry does for the rebalancer.
struct handoff_constants {
  bool keeps_baton : 1 = false;  ///< a coroutine's: it holds on to the baton after a batch
  bool runs_here : 1 = false;    ///< the thread model always runs a batch here and now
  bool is_watched : 1 = false;   ///< there is a watchdog
  bool can_move : 1 = false;     ///< its handler may be given to an object on another loop
};

/// What a handler wants to be told besides input and the end. A bit is cleared when that has been told.
struct enabled_callbacks {
  bool open : 1 = false, read_eof : 1 = false, drain : 1 = false, writable : 1 = false, overload : 1 = false;
  bool classify : 1 = false;
  bool urgent : 1 = false;  ///< it has answers that do not wait
};

}  // namespace quintet::detail
