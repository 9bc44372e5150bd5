// SPDX-License-Identifier: BSL-1.0
// next_step: decides, as a pure function of facts, what a connection does next while the loop has the baton.
#pragma once

#include <cstdint>

namespace quintet::detail {

/// The state of a connection at this moment, from connection_core::facts(). next_step() decides by it alone. No
/// bit-fields: to assemble those takes 76 instructions more.
struct connection_facts {
  // The end.
  bool close_asked = false;  ///< close was requested, and not accepted yet
  bool closing = false;      ///< close() was accepted: input is ignored
  bool lingering = false;    ///< everything is sent and the peer was told
  // Messages from outside.
  bool has_messages = false;  ///< messages not sorted yet
  bool has_calls = false;     ///< messages that need the baton
  // Output.
  bool output_waits = false;    ///< the kernel has not taken all output
  bool must_shut_down = false;  ///< shutdown_send() was called, and the peer was not told yet
  bool wants_writable = false;  ///< on_writable comes before more input
  bool below_low_watermark = false;
  bool is_scheduled = false;        ///< on_writable is in the loop's fair queue
  bool output_holds_input = false;  ///< above the high watermark, and the policy is overflow_policy::pause
  // Another loop.
  bool may_migrate = false;  ///< another loop is named, and nothing holds the connection here
  // TLS.
  bool starts_tls = false;  ///< the handler has asked for it, and waits
  // Input.
  bool has_unseen_input = false;  ///< input that the handler has not seen
  bool holds_input = false;       ///< paused by the handler, throttled, or behind output
  bool reading_differs = false;   ///< the engine reads and should not, or the reverse
  // The end of input.
  bool drain_is_over = false;   ///< everything received before draining began was delivered, or the handler pauses
  bool peer_ended = false;      ///< the peer has finished sending, and everything was delivered
  bool peer_was_reset = false;  ///< nothing more will arrive, and there is nobody to reply to
  bool may_end = false;         ///< this side is not half-open, or has shut down sending
  // The handler.
  bool keeps_baton = false;      ///< a coroutine: its reads return the end
  bool on_drain_is_due = false;  ///< on_drain exists and has not run yet
  bool on_read_eof_is_due = false;
};

/// Each step removes its own cause, hands the baton out, or ends the connection. So the steps terminate.
enum class step : std::uint8_t {
  wait,               ///< nothing to do before the next event
  accept_close,       ///< accept the requested close
  linger,             ///< everything is sent: tell the peer, and wait until it has read and closed
  sort_messages,      ///< run messages that need no baton, and collect the calls
  dispatch_calls,     ///< hands the baton out
  shut_down_send,     ///< tell the peer that no more follows
  schedule_writable,  ///< queue for on_writable, behind others that write much
  migrate,            ///< to another loop
  start_tls,          ///< hands the baton to a handshake, or ends the connection
  deliver_input,      ///< hands the baton out, or finds that the handler needs more bytes
  set_reading,        ///< tell the engine whether to read
  deliver_end,        ///< hands the baton out: a coroutine's read returns the end
  dispatch_drain,     ///< hands the baton out
  dispatch_read_eof,  ///< hands the baton out
  close,              ///< as if the handler had called close()
  end,                ///< both sides have finished
};

/// Decides at the end of input, when nothing else is left to do.
constexpr step decide_at_end(const connection_facts& now) noexcept {
  if (now.drain_is_over) {
    if (now.keeps_baton) return step::deliver_end;
    return now.on_drain_is_due ? step::dispatch_drain : step::close;
  }
  if (!now.peer_ended || now.peer_was_reset) return step::wait;  // a reset: until held input can be delivered
  if (now.keeps_baton) return step::deliver_end;
  if (now.on_read_eof_is_due) return step::dispatch_read_eof;
  return now.may_end && !now.output_waits ? step::end : step::wait;
}

/// Decides whether it migrates, on input, then on its end.
constexpr step decide_on_input(const connection_facts& now) noexcept {
  if (now.may_migrate) return step::migrate;
  if (now.has_unseen_input && !now.holds_input) return step::deliver_input;
  if (now.reading_differs) return step::set_reading;
  return decide_at_end(now);
}

/// close() was accepted: only output matters.
constexpr step decide_while_closing(const connection_facts& now) noexcept {
  return now.output_waits || now.lingering ? step::wait : step::linger;
}

/// The handler waits for TLS, and so do messages.
constexpr step decide_before_tls(const connection_facts& now) noexcept {
  return now.output_waits ? step::wait : step::start_tls;
}

/// The handler wants on_writable before more input.
constexpr step decide_before_writable(const connection_facts& now) noexcept {
  return now.below_low_watermark && !now.is_scheduled ? step::schedule_writable : step::wait;
}

/// The first line that applies wins. The connection has not ended, and the loop has the baton.
constexpr step next_step(const connection_facts& now) noexcept {
  if (now.close_asked) return step::accept_close;
  if (now.closing) return decide_while_closing(now);
  if (now.starts_tls) return decide_before_tls(now);
  if (now.has_messages) return step::sort_messages;
  if (now.has_calls) return step::dispatch_calls;
  if (now.peer_was_reset && !now.has_unseen_input) return step::end;
  if (now.must_shut_down && !now.output_waits) return step::shut_down_send;
  if (now.wants_writable) return decide_before_writable(now);
  if (now.output_holds_input) return step::wait;
  return decide_on_input(now);
}

}  // namespace quintet::detail
