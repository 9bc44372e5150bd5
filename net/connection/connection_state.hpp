// SPDX-License-Identifier: BSL-1.0
// connection_state: what a connection remembers: flags of the loop's side and of the baton's, and what only some need.
#pragma once

#include "../../base/work/timer_queue.hpp"
#include "../../base/work/work_item.hpp"
#include "../loop/event_loop.hpp"
#include "../names/connection_id.hpp"
#include "../options/connection_limits.hpp"
#include "connection_deadlines.hpp"
#include "send_notices.hpp"

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace quintet {

class connection;

}  // namespace quintet

namespace quintet::detail {

struct urgent_findings;
struct connection_facts;         // next_step.hpp
enum class step : std::uint8_t;  // the same

/// What the loop has to look at when a batch comes or goes; connection::is_calm() when there is nothing.
struct connection_loop_flags {
  bool takes_detours : 1 = false;  // always: it is a coroutine's, is watched, or its batches go elsewhere
  bool baton_out : 1 = false;
  bool paused : 1 = false;     // the engine does not read
  bool has_ahead : 1 = false;  // ahead_ is not empty
  bool sending : 1 = false;    // sending_ is not empty
  bool above_watermark : 1 = false;
  bool mid_message : 1 = false;  // a part of what the handler is writing has left, and the rest has not
  bool has_messages : 1 = false;
  bool held : 1 = false;         // connections that this one feeds are full
  bool close_asked : 1 = false;  // from outside, while the baton was out
  bool shut : 1 = false;         // the peer has been told that nothing more comes
  bool receive_ended : 1 = false;
  bool writes_on : 1 = false;  // the baton is out, on another thread, for a turn of on_writable
  bool drain_asked : 1 = false;
  bool lingering : 1 = false;  // everything is sent and the peer knows; waiting for it to read and close
  bool failing : 1 = false;    // it is over: on_close is due, or under way
  [[nodiscard]] bool none() const noexcept { return std::bit_cast<std::uint16_t>(*this) == 0; }
  [[nodiscard]] bool only_baton_out() const noexcept {
    constexpr connection_loop_flags that{.baton_out = true};
    return std::bit_cast<std::uint16_t>(*this) == std::bit_cast<std::uint16_t>(that);
  }
  [[nodiscard]] bool none_but_detours() const noexcept {
    connection_loop_flags others = *this;
    others.takes_detours = false;
    return others.none();
  }
};

/// What a handler wants to be told besides input and the end; urgent: it has answers that do not wait.
struct connection_wishes {
  bool open : 1 = false, read_eof : 1 = false, drain : 1 = false, writable : 1 = false, overload : 1 = false;
  bool classify : 1 = false, urgent : 1 = false;
};

/// How often the heartbeat monitor has looked since something was received, and whether that was since the rebalancer
/// has set its mark. Receiving costs one store.
class connection_silence {
 public:
  /// [loop]
  void ends() noexcept { std::atomic_ref(state_).store(0, std::memory_order_relaxed); }
  [[nodiscard]] std::uint32_t looks() noexcept { return load() & ~(marked | unbroken); }
  /// [loop] Whether nothing has been received yet.
  [[nodiscard]] bool is_unbroken() noexcept { return (load() & unbroken) != 0; }
  /// [any thread] Counts one more; returns how many there were before. If the silence ends at the same moment, that is
  /// lost only where it had just begun.
  std::uint32_t look() noexcept {
    std::uint32_t before = load();
    std::atomic_ref(state_).compare_exchange_strong(before, before + 1, std::memory_order_relaxed);
    return before & ~(marked | unbroken);
  }
  /// [any thread]
  void mark() noexcept { std::atomic_ref(state_).fetch_or(marked, std::memory_order_relaxed); }
  [[nodiscard]] bool is_marked() noexcept { return (load() & marked) != 0; }

 private:
  static constexpr std::uint32_t marked = 1U << 31U, unbroken = 1U << 30U;
  [[nodiscard]] std::uint32_t load() noexcept { return std::atomic_ref(state_).load(std::memory_order_relaxed); }
  std::uint32_t state_ = unbroken;
};

/// The same of the baton's side. The loop writes them while the baton is at home.
struct connection_baton_flags {
  bool close_wanted : 1 = false;
  bool shutdown_wanted : 1 = false;
  bool pause_wanted : 1 = false;
  bool wants_writable : 1 = false;  // run_writable() is to come before more input
  bool had_its_share : 1 = false;   // of this turn
  bool checks_writes : 1 = false;   // or, with the baton out: output_ is one chunk, to which write() may append
  bool has_input : 1 = false;       // input_buffer_ is not empty
  bool has_calls : 1 = false;
  bool has_changes : 1 = false;  // of settings
  bool has_dropped : 1 = false;
  bool expects : 1 = false;  // what is unused is not delivered again before it is so long
  bool handler_failed : 1 = false;
  bool overflowed : 1 = false;  // more was written than max_output
  bool drain_begun : 1 = false;
  bool timed : 1 = false;       // there are deadlines
  bool has_reason : 1 = false;  // close() was told one
  [[nodiscard]] bool none() const noexcept { return std::bit_cast<std::uint16_t>(*this) == 0; }
};

/// Of one connection alone.
struct connection_settings {
  connection_limits limits;
  connection_id source;
};

/// What waits for the end of the loop's turn: sending what several messages have brought, and functions that are to be
/// told what has been sent.
struct connection_turn_end final : work_item {
  explicit connection_turn_end(connection& c) noexcept : work_item(&connection_turn_end::run), of(c) {}
  static void run(work_item& item) noexcept;
  connection& of;
  bool due = false;
  bool goes_on = false;  // there is more to do than to tell them
};

/// What an idle connection does without, of the loop's side and of the baton's: made when it is first needed.
struct connection_loop_extras final : timer, turn_taker {
  explicit connection_loop_extras(connection& c) noexcept : end(c) {}
  void expired() noexcept override;
  void take_turn() noexcept override;
  connection_turn_end end;
  work_fifo messages;
  send_notices notices;
  std::uint64_t taken = 0;  // by the kernel of what there are notices for; their positions are counted by it
  std::unique_ptr<connection_deadlines> deadlines;
  std::size_t charged = 0;        // how much of sending_ the server's budget knows of
  std::size_t input_charged = 0;  // the same of unused input
  std::size_t drain_left = 0;     // received by the kernel when draining began, and not by us yet
  event_loop* goes_to = nullptr;  // as soon as nothing is under way
  int holds = 0;                  // connections that this one feeds and whose output is full
};

struct connection_baton_extras {
  work_fifo calls;
  send_notices notices;  // their positions are places in output_
  std::unique_ptr<connection_settings> changed;
  error_code close_reason = make_error_code(boost::system::errc::not_enough_memory);  // if there was none to note it
  std::size_t expected = 0;
  std::size_t kept = 0;           // input that the handler keeps, if it is worth counting
  std::size_t charged = 0;        // how much of output_ the server's budget knows of
  std::size_t waiting = 0;        // sending_.size() when the baton left
  unsigned dropped = 0;           // writes that when_full::drop has dropped in this batch
  unsigned corks = 0;             // that are alive
  event_loop* goes_to = nullptr;  // asked for in this batch
};

}  // namespace quintet::detail
