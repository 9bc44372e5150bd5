// SPDX-License-Identifier: BSL-1.0
// reference_model: the rules, each with the documented promise from which it follows.
#include "reference_model.hpp"

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace quintet::testing {
namespace {

using namespace std::chrono_literals;

// The values that vary_times() sets.
constexpr duration first_byte_limit = 2s, idle_limit = 4s, send_limit = 3s, message_limit = 2s;

}  // namespace

void reference_model::check(life& l, bool ended) {
  const time_point now = stage_.now();
  if (l.closed + l.ended > 0 && !l.is_checked) {
    l.is_checked = true;
    if (l.closed > 0) check_reason(l);
    check_drain(l);
  }
  if (l.closed + l.ended > 0) check_after_end(l, ended);
  if (!is_open(l)) return;
  require(l, l.due > now, "a time limit has not ended it");
  require(l, !stopping, "it is open although the server has stopped");
  if (!l.has_client) return;
  observe(l, now);
  check_held_input(l);
  if (!rests(l)) return;
  require(l, !l.abort_asked, "it is open after registry.abort()");
  // "All input that had arrived is delivered first": a handler that has paused takes it when it resumes.
  require(l, !l.client_reset || l.paused || l.fed, "it is open after a reset");
  check_output(l);
  check_input(l);
  check_end(l, ended);
}

// Time does not pass while the loops work. So a change since the last call happened at `now`.
void reference_model::observe(life& l, time_point now) const {
  if (l.opened_at == life::never) l.opened_at = now;
  const std::uint64_t taken = l.client_sent - l.unread;
  if (std::exchange(l.received_before, taken) != taken) l.last_in = now;
  if (std::exchange(l.arrived_before, l.arrived) != l.arrived) l.last_out = now;
  if (std::exchange(l.read_before, l.read) != l.read) l.last_read = now;
  if (taken == l.consumed) l.partial_since = life::never;
  if (taken > l.consumed && l.partial_since == life::never) l.partial_since = now;
  const bool looks = takes_input(l) && taken > l.consumed && l.consumed == l.consumed_before;
  if (!looks) l.unused_since = life::never;
  if (looks && l.unused_since == life::never) l.unused_since = now;
  l.consumed_before = l.consumed;
  const bool waits = is_window_full(l) && l.arrived < l.written && !l.may_drop && !l.client_closed;
  if (!waits) l.waiting_since = life::never;
  if (waits && rests(l) && l.waiting_since == life::never) l.waiting_since = now;
}

void reference_model::predict(life& l) const {
  l.due = life::never;
  if (!is_open(l) || !l.has_client || l.opened_at == life::never || stopping || draining) return;
  if (l.client_reset) return;     // it is open because it has paused, and the reset was activity
  if (stage_.timers > 0) return;  // a timer may expire earlier, and its function counts as work
  const connection_limits& limits = l.limits;
  const auto within = [&](time_point since, duration limit) {
    if (since == life::never || limit == duration::zero()) return;
    l.due = std::min(l.due, std::max(since, l.limits_since) + limit);
  };
  within(l.waiting_since == life::never ? life::never : std::max(l.waiting_since, l.last_out), limits.send_timeout);
  within(l.closing_since, limits.linger_timeout);
  if (!rests(l) || closes(l)) return;
  if (l.client_sent == 0 && takes_input(l)) {
    const time_point looks_since = std::max({l.opened_at, l.last_work, l.last_out});  // the latest possible start
    within(looks_since, limits.first_byte_timeout);
  }
  if (has_left(l) && !l.may_drop && !l.may_miss_broadcasts)
    within(std::max({l.opened_at, l.last_in, l.last_out, l.last_work}), limits.idle_timeout);
  if (l.kind != flavour::coroutine && l.unused_since != life::never && !l.may_miss_broadcasts)
    within(std::max(l.unused_since, l.last_other_work), limits.message_timeout);
}

// "Everything written in a batch leaves"; "when_sent: once, when the kernel has taken all"; "post: with the baton".
void reference_model::check_output(const life& l) const {
  if (!closes(l) && !draining) require(l, l.next_post == l.posted, "a posted function does not run");
  if (l.client_closed || l.refused || l.may_drop || l.may_miss_broadcasts || is_window_full(l)) return;
  require(l, has_left(l), "output does not leave although the client has room for it");
  require(l, l.told == l.asked.size(), "a when_sent() function is not called although everything has left");
  require(l, !l.waits_for_room || closes(l) || draining,
          "on_writable or until_writable() does not come although everything has left");
}

// "The server stops reading a peer that sends ahead when 64 KiB of input wait for the handler. A batch that a handler
// on a pool works on comes on top", whatever the handler waits for.
void reference_model::check_held_input(const life& l) const {
  constexpr std::uint64_t limit = 64 * 1024, one_arrival = 64 * 1024;
  if (draining || closes(l) || l.leaves_input || l.expected > 0 || l.client_closed) return;
  const std::uint64_t held = l.client_sent - l.unread - std::max(l.consumed, l.taken);
  require(l, held <= (l.kind == flavour::coroutine ? 1 : 2) * (limit + one_arrival),
          "the server holds more input than its handler can use now");
}

void reference_model::check_input(const life& l) const {
  if (!takes_input(l) || l.may_drop || l.may_miss_broadcasts || l.client_closed) return;
  if (!l.leaves_input && l.expected == 0) {
    require(l, l.unread == 0, "input is not received although nothing holds it");
    require(l, l.consumed == l.whole_lines, "the program is not given input that has arrived");
  }
  if (!l.half_closed) return;
  if (l.kind == flavour::full || l.kind == flavour::classified)
    require(l, l.eof_seen, "on_read_eof does not come");
  else
    require(l, false, "it is open although the client has finished, and everything is answered");
}

// "close: closes when everything written has left", within linger_timeout.
void reference_model::check_end(life& l, bool ended) const {
  const bool drained = draining && !l.waits_for_room && !l.fed;
  if ((!closes(l) && !drained) || !has_left(l) || l.may_drop || l.may_miss_broadcasts || l.client_closed ||
      is_window_full(l)) {
    l.closing_since = life::never;
    return;
  }
  if (l.closing_since == life::never) l.closing_since = stage_.now();
  if (l.arrived == l.read) require(l, ended, "the client does not see the end although everything has left");
}

// The end of the program is not the end of its output: "everything written leaves first".
void reference_model::check_after_end(const life& l, bool ended) const {
  if (!l.has_client || !has_ended_in_order(l) || stopping || l.abort_asked || can_lose_output(l) || is_window_full(l))
    return;
  if (ended && l.kind == flavour::coroutine) return;  // check_tail() checks this case, including resets
  require(l, l.arrived >= l.written, "output does not leave after an orderly end although the client has room for it");
  if (l.arrived == l.read) require(l, ended, "the client does not see the end after an orderly end");
}

// "The server handles and answers the bytes that the kernel has received from each client by then", unless the program
// itself prevents it.
void reference_model::check_drain(const life& l) const {
  if (!draining || l.kind == flavour::coroutine || !has_ended_in_order(l) || closes(l) || l.paused || l.client_closed)
    return;
  require(l, l.consumed >= l.due_in_drain || l.leaves_input || l.expected > 0,
          "the drain has ended it although the program was not given input that had arrived");
}

// An end of the stream without a reset tells the client that the output is complete. A connection closed by a limit is
// reset if output still waits.
void reference_model::check_tail(const life& l, const received& so_far, bool is_within, bool was_reset) const {
  if (can_lose_output(l)) return;
  // A coroutine knows the reason of its own end. A stop() afterwards may cut off the output that still leaves.
  const bool is_orderly = has_ended_in_order(l) && (l.kind != flavour::coroutine || (!was_reset && !stopping));
  const bool is_limited = !was_reset && !l.abort_asked && !stopping;
  if (!is_orderly && !is_limited) return;
  require(l, so_far.next_written == l.next_record, "the last records are lost although the end is an orderly one");
  require(l, !is_within, "the last record is cut although the end is an orderly one");
}

void reference_model::check_reason(const life& l) const {
  const error_code& why = l.why;
  if (!is_allowed(l, why) || !is_late_enough(l, why))
    stage_.report(l, "on_close is told a reason that is none: " + (why ? why.message() : std::string("no error")));
  require(l, !l.has_reason || why, "the reason given to close() is not told to on_close");
}

bool reference_model::is_allowed(const life& l, const error_code& why) const {
  if (l.has_reason && why == l.close_reason) return true;
  if (l.abort_asked && why == errc::aborted) return true;
  if (!why) return l.close_called || l.close_asked || draining;
  if (!l.has_client) return !stopping || why == errc::stopped || why.category() == boost::system::system_category();
  if (why == errc::end_of_stream) return l.half_closed || l.client_closed;
  if (why == errc::stopped) return stopping;
  if (why == errc::handler_threw) return l.threw;
  if (why == errc::message_too_big) return l.sent_too_much;
  if (why == errc::output_full) return l.may_be_full;
  if (why == errc::output_overflow)
    return l.refused || l.may_miss_broadcasts || l.written + l.sent_from_outside >= l.least_max_output;
  if (why.category() == boost::system::system_category()) return l.client_reset || l.client_closed;
  return why == errc::first_byte_timeout || why == errc::idle_timeout || why == errc::send_timeout ||
         why == errc::message_timeout;
}

// "neither input nor output, and no handler at work"; "output waits and the peer takes none of it"; "from the first
// byte of a message".
bool reference_model::is_late_enough(const life& l, const error_code& why) const {
  const time_point now = stage_.now();
  if (!l.has_client) return true;
  if (why == errc::first_byte_timeout) return l.client_sent == l.unread && now - l.opened_at >= first_byte_limit;
  // While output waits and the client leaves some unread, only its reading counts as progress. Behind a full window
  // more may wait than the program has written: broadcasts.
  const bool is_behind = l.arrived > l.read && (!has_left(l) || is_window_full(l));
  const time_point last_taken = is_behind ? l.last_read : l.last_out;
  const bool only_output = is_behind && l.limits.send_timeout == 0s;
  if (why == errc::idle_timeout)
    return now - (only_output ? last_taken : std::max({l.last_in, l.last_out, l.last_work})) >= idle_limit;
  if (why == errc::send_timeout) return now - last_taken >= send_limit;
  if (why != errc::message_timeout) return true;
  const bool all_whole = l.whole_lines == l.client_sent && !l.leaves_input && l.expected == 0;
  return l.partial_since != life::never && now - l.partial_since >= message_limit && !all_whole;
}

void reference_model::check_remains(const life& l) const {
  require(l, l.opened <= 1, "on_open was called more than once");
  if (l.kind == flavour::coroutine)
    require(l, l.ended == l.opened, "the coroutine has not ended once");
  else
    require(l, l.closed == l.opened, "on_close was not called once");
  require(l, l.told == l.asked.size() && l.told_at_end == l.asked_at_end, "a when_sent() function was not called");
}

// Each writer's records arrive in order. Broadcasts, and overflow policies that drop, may leave gaps.
void reference_model::check_record(const life& l, received& so_far, char writer, std::uint32_t sequence) const {
  std::uint32_t& next = writer == 'h' ? so_far.next_written : writer == 's' ? so_far.next_sent : so_far.next_broadcast;
  const bool gaps = l.may_drop || writer == 'b';
  if (sequence != next && !(gaps && sequence > next))
    stage_.report(l, std::string("records of one writer are lost, doubled or out of order: ") + writer + " has " +
                         std::to_string(sequence) + " after " + std::to_string(next) + " records");
  next = sequence + 1;
}

}  // namespace quintet::testing
