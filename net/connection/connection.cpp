// SPDX-License-Identifier: BSL-1.0
// connection: the loop's side of the state machine: how it begins, input, and how it ends.
#include "connection.hpp"

#include "../../base/build/planted_bugs.hpp"
#include "../loop/executor.hpp"
#include "../watch/stall_watchdog.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <utility>

namespace quintet {
namespace {

constexpr std::size_t read_ahead_limit = 64 * 1024;  // while the baton is out; then TCP pushes back
constexpr std::size_t most_in_place = 256 * 1024;    // and at once, so that others have their turn

/// Of the configuration, so that who wonders why connections end finds it in the log.
bool is_a_limit(const error_code& why) noexcept {
  return why && why.category() == quintet_category() && why != errc::end_of_stream && why != errc::stopped &&
         why != errc::handler_threw && why != errc::aborted;
}

void report_limit(const log_hook& log, const error_code& why, auto peer) noexcept try {
  report(log, {severity::info, "a connection is closed", why, peer()});
} catch (const std::bad_alloc&) {  // nothing is left to say it with
}

/// The peer does not read. After an orderly end the kernel would keep for minutes what it still holds for the peer.
bool gives_up_on_the_peer(const error_code& why) noexcept {
  return why == errc::output_overflow || why == errc::output_full || why == errc::send_timeout || why == errc::aborted;
}

}  // namespace

connection::connection(event_loop& loop, connection_host& host, bool keeps_baton, bool runs_here, bool successor)
    : connection_data(&connection::process_open, &connection::on_handoff, loop, host, keeps_baton, runs_here) {
  if (!successor) loop_.join(*this);
}

connection::~connection() {
  if (is_linked()) loop_.leave(*this);
  loop_.chunks().take_back(output_);
  loop_.chunks().take_back(sending_);
  if (extras_) drop_messages(extras_->messages);
  if (baton_extras_) drop_messages(baton_extras_->calls);
}

bool connection::have_extras() noexcept {
  if (!extras_) extras_.reset(new (std::nothrow) loop_extras(*this));
  if (!extras_) out_of_memory();
  return extras_ != nullptr;
}

bool connection::make_baton_extras() noexcept {
  if (!baton_extras_) baton_extras_.reset(new (std::nothrow) baton_extras);
  return baton_extras_ != nullptr;
}

// With the baton at home.
bool connection::have_baton_extras() noexcept {
  if (!make_baton_extras()) out_of_memory();
  return baton_extras_ != nullptr;
}

// Where the baton's holder may be told that there is no memory.
connection::baton_extras& connection::extras_of_baton() {
  if (!baton_extras_) baton_extras_ = std::make_unique<baton_extras>();
  return *baton_extras_;
}

loop_executor connection::get_executor() const { return loop_.get_executor(); }
std::string connection::peer_address() const {
  check_held();
  return peer();
}

void connection::open(int handle, wishes told) noexcept {
  loop_.counters().opened.add();
  handle_ = handle;
  told_ = told;
  told_.classify &= host_.lane && loop_.io().lets_go() && !loop_.options().own_descriptors && host_.lane != &loop_;
  state_.takes_detours = told_.classify || always_takes_detours();
  if (const error_code ec = loop_.io().add(*this, handle)) return fail(ec);
  if (loop_.stopping()) return fail(errc::stopped);
  bool draining = false;
  try {
    const auto added = host_.registry.add(*this);
    id_ = added.id;
    draining = added.draining;
  } catch (const std::exception&) {
    return out_of_memory();
  }
  if (is_watched_) host_.watchdog->watch_this_thread();
  use_limits();
  if (state_.failing) return;
  begun_ = true;
  if (told_.open) {
    told_.open = false;
    send_out(&connection::process_open);
  }
  watch_time();
  if (draining) drain();
}

[[gnu::always_inline]] inline void connection::append_input(bytes more) {
  loop_.buffers().equip(input_buffer_);
  if (baton_.expects) [[unlikely]]
    input_buffer_.reserve_announced(more.size(), expected());
  input_buffer_.append(more);
  baton_.has_input = true;
}

// For the handler, now or when it has the baton.
[[gnu::always_inline]] inline void connection::take_in(bytes arrived) noexcept {
  try {
    if (!is_calm_but_for_detours()) [[unlikely]] {
      if (state_.baton_out || state_.has_ahead || holds_input()) {  // nothing overtakes what was read ahead
        loop_.buffers().equip(ahead_);
        ahead_.append(arrived);
        state_.has_ahead = true;
        if (ahead_.size() >= read_ahead_limit) set_reading(false);
        if (!state_.baton_out && !holds_input()) settle();
        return;
      }
      if (baton_.close_wanted) return;  // what is being sent is the last of it
    }
    if (keeps_baton_ || baton_.has_input || baton_.expects) {
      append_input(arrived);
      if (is_expecting_more()) return settle();
    } else {
      loop_.lend_input(arrived);
      input_is_lent_ = true;
    }
  } catch (const std::exception&) {
    return out_of_memory();
  }
  deliver();
}

// Input for which there is more to think about than for most.
void connection::receive(bytes arrived) noexcept {
  if (state_.lingering) return;
  if (state_.drain_asked) {
    if (extras_->drain_left == 0) return;  // it was sent after the draining began
    extras_->drain_left -= std::min(extras_->drain_left, arrived.size());
  }
  if (connection_deadlines* const d = deadlines()) d->received(arrived.size(), loop_.now());
  if (told_.urgent) [[unlikely]]
    if (arrived = sift(arrived, false); arrived.empty()) return watch_time();
  take_in(arrived);
}

// On the loop: behind what there is.
void connection::keep(bytes unused) noexcept try { append_input(unused); } catch (const std::exception&) {
  out_of_memory();
}

// Straight to where append_input() would copy it. Of a message that has begun: before that no memory is held for it.
std::span<char> connection::receive_space() noexcept try {
  if (state_.baton_out || state_.has_ahead || state_.lingering || state_.drain_asked || told_.urgent) return {};
  if (baton_.close_wanted || !baton_.has_input || holds_input() || !is_expecting_more()) return {};
  const std::size_t missing = expected() - input_buffer_.size();
  input_buffer_.reserve_announced(std::min(missing, worth_its_place), expected());
  const std::span<char> free = input_buffer_.space();
  return free.first(std::min({free.size(), missing, most_in_place}));
} catch (const std::exception&) {
  out_of_memory();
  return {};
}

void connection::on_received_in_place(std::size_t count) noexcept {
  note_received(count);
  loop_.counters().bytes_in_place.add(count);
  if (connection_deadlines* const d = deadlines()) d->received(count, loop_.now());
  input_buffer_.commit(count);
  if (is_expecting_more()) return settle();
  deliver();
}

void connection::on_receive_end(error_code reason) noexcept {
  if (reason) return fail(reason);
  if (told_.urgent && !state_.lingering)
    if (const bytes last = sift({}, true); !last.empty()) take_in(last);
  if (state_.failing) return;
  state_.receive_ended = true;
  if (state_.lingering) return fail({});
  if (!state_.baton_out) settle();
}

void connection::on_sendable() noexcept {
  count_sends(loop_.counters().sends_resumed, [this] { send_waiting(); });
  if (planted(detail::bug::on_writable_is_lost) && baton_.wants_writable && !state_.sending) return;
  if (!state_.failing && !state_.baton_out) settle();
}

void connection::abort() noexcept {
  fail(errc::stopped);
  if (state_.baton_out) interrupt();
}

void connection::count_kept_input(std::size_t size) noexcept {
  check_held();
  const std::size_t now = size > read_ahead_limit ? size : 0;
  if (now == (baton_extras_ ? baton_extras_->kept : 0)) return;
  if (!make_baton_extras()) return close(make_error_code(boost::system::errc::not_enough_memory));
  baton_extras_->kept = now;
  baton_.has_changes = true;
}

// On the loop, with the baton at home. What is short is not worth counting.
void connection::charge_input() noexcept {
  const std::size_t of_handler = baton_extras_ ? baton_extras_->kept : 0;
  const std::size_t kept = input_buffer_.size() + ahead_.size() + of_handler, now = kept > read_ahead_limit ? kept : 0;
  if (state_.failing || (now == 0 && (!extras_ || extras_->input_charged == 0)) || !have_extras()) return;
  const std::size_t before = std::exchange(extras_->input_charged, now);
  if (!host_.input.changed(before, now, host_.registry.count())) fail(errc::input_overflow);
}

// With the baton at home, or held by the caller.
bool connection::wants_reading(bool pauses) const noexcept {
  return state_.lingering || (!state_.held && ahead_.size() < read_ahead_limit && !pauses);
}

void connection::set_reading(bool on) noexcept {
  if (state_.paused != on || state_.receive_ended || state_.failing) return;
  state_.paused = !on;
  loop_.io().set_reading(*this, on);
}

void connection::out_of_memory() noexcept { fail(make_error_code(boost::system::errc::not_enough_memory)); }

void connection::fail(error_code why) noexcept {
  if (state_.failing) return;
  if (!state_.baton_out && baton_.has_reason && !gives_up_on_the_peer(why))
    why = baton_extras_ ? baton_extras_->close_reason : make_error_code(boost::system::errc::not_enough_memory);
  state_.failing = true;
  host_.registry.remove(id_);  // first: nobody looks any more at what the reason takes the place of
  silence_or_reason_.reason = why.value();
  reason_category_ = &why.category();
  if (host_.log && is_a_limit(why)) report_limit(host_.log, why, [this] { return peer(); });
  // Memory goes back together with what it was charged as, not when the object dies: that is at the end of the turn.
  loop_.chunks().take_back(sending_);
  const bool is_cut = state_.sending;
  state_.sending = false;
  if (extras_) host_.output.released(std::exchange(extras_->charged, 0));
  if (extras_) host_.input.released(std::exchange(extras_->input_charged, 0));
  if (state_.above_watermark) tell_source(false);
  state_.above_watermark = false;
  loop_.io().remove(*this);
  if (is_cut) loop_.io().reset_when_closed(handle_);  // the peer must not take a part of a reply for all of it
  if (extras_) extras_->cancel();
  if (state_.baton_out)
    tell_at_turn_end();
  else
    begin_to_close();
}

// The baton is at home, for the last time: nobody else can use the handle any more.
void connection::begin_to_close() noexcept {
  if (gives_up_on_the_peer(reason()) || state_.mid_message) loop_.io().reset_when_closed(handle_);  // or as in fail()
  loop_.chunks().take_back(output_);
  if (baton_extras_) host_.output.released(std::exchange(baton_extras_->charged, 0));
  loop_.io().close(std::exchange(handle_, -1));
  tell_all_notices();
  send_out(&connection::process_close);
}

}  // namespace quintet
