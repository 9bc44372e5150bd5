// SPDX-License-Identifier: BSL-1.0
// connection: the loop's side of the state machine: input, ends, and what comes next when the baton is at home.
#include <quintet/net/connection.hpp>

#include <quintet/net/executor.hpp>
#include <quintet/net/planted_bugs.hpp>
#include <quintet/net/stall_watchdog.hpp>

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <utility>

namespace quintet {
namespace {

constexpr std::size_t read_ahead_limit = 64 * 1024;            // while the baton is out; then TCP pushes back
constexpr std::size_t worth_its_place = 16 * 1024;             // so much missing is received straight into the input
constexpr std::size_t most_in_place = 256 * 1024;              // and at once, so that others have their turn
constexpr duration long_turn = std::chrono::milliseconds(10);  // the peer must have been waited for

/// Of the configuration, so that who wonders why connections end finds it in the log.
bool is_a_limit(const error_code& why) noexcept {
  return why && why.category() == quintet_category() && why != errc::end_of_stream && why != errc::stopped &&
         why != errc::handler_threw && why != errc::aborted;
}

/// The peer does not read. After an orderly end the kernel would keep for minutes what it still holds for the peer.
bool gives_up_on_the_peer(const error_code& why) noexcept {
  return why == errc::output_overflow || why == errc::output_full || why == errc::send_timeout || why == errc::aborted;
}

}  // namespace

connection::connection(event_loop& loop, connection_host& host, bool keeps_baton, bool runs_here, bool successor)
    : connection_data(&connection::process_open, &connection::prepare_to_travel, loop, host, keeps_baton, runs_here) {
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

// The baton is at home and nothing more can be sent now: what comes next? Each step may ask for this again (a message
// closes the connection, or begins to drain it; a handler is called and returns the baton): the call that is on the
// stack already then looks at everything anew, from the beginning, when the step is over.
void connection::settle() noexcept {
  settles_again_ = true;
  if (settling_ && !planted(detail::bug::settle_is_reentered)) return;
  settling_ = true;
  while (settles_again_ && !state_.failing && !state_.baton_out) {
    settles_again_ = false;
    take_next_step();
  }
  settling_ = false;
  if (!state_.baton_out) charge_input();
  if (connection_deadlines* const d = deadlines()) {
    if (loop_.io().waits_in_send()) note_long_send(*d);
    if (!state_.baton_out) d->hold(looks_away(), loop_.now());
    watch_time();
  }
}

// A send that waits for the peer may have taken long. Where nothing is left to send, the peer has taken bytes just now.
void connection::note_long_send(connection_deadlines& d) noexcept {
  const time_point before = loop_.now();
  loop_.time_has_passed();
  if (!state_.sending && loop_.now() - before > long_turn) d.sent(loop_.now());
}

void connection::take_next_step() noexcept {
  if (state_.close_asked) baton_.close_wanted = true;
  state_.close_asked = false;
  if (baton_.close_wanted) {
    if (planted(detail::bug::output_is_lost_at_the_end) && state_.receive_ended) state_.sending = false;
    if (!state_.sending && !state_.lingering) begin_to_linger();
    return;
  }
  sort_messages();
  if (state_.failing || settles_again_) return;
  if (baton_.has_calls) return send_out(&connection::process_messages);
  if (baton_.shutdown_wanted && !state_.shut && !state_.sending) {
    state_.shut = true;
    loop_.io().shutdown_send(handle_);
  }
  if (baton_.wants_writable) [[unlikely]] {
    if (sending_.size() <= applied_limits().low_watermark && have_extras()) loop_.line_up(*extras_);
    return;
  }
  if (is_stuck()) return;
  if (extras_ && extras_->goes_to && move_on()) return;
  if (state_.failing) return;
  if ((state_.has_ahead || has_unseen_) && !holds_input()) {
    has_unseen_ = false;
    take_input();
    if (state_.failing) return;
    if (!is_expecting_more()) return deliver();
  }
  update_reading();
  if (baton_.expects && baton_.has_input && expected() >= input_buffer_.size() + worth_its_place)
    loop_.io().receive_in_place(*this);
  if (state_.drain_asked && (extras_->drain_left == 0 || state_.receive_ended || baton_.pause_wanted))
    return finish_drain();
  if (state_.receive_ended && !state_.has_ahead) settle_end();
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

// The peer has finished sending, and everything it sent has been seen.
void connection::settle_end() noexcept {
  if (keeps_baton_) return deliver();        // a coroutine is told of the end, and may still write
  if (told_.classify && baton_.has_input) {  // it was undecided, and nothing comes that could decide it
    end_classifying();
    return deliver();
  }
  if (told_.read_eof) {
    told_.read_eof = false;
    stays_half_open_ = true;
    return send_out(&connection::process_read_eof);
  }
  if (!state_.sending && (state_.shut || !stays_half_open_)) fail(errc::end_of_stream);
}

// With the baton at home, or held by the caller.
void connection::update_reading(bool pauses) noexcept {
  set_reading(state_.lingering || (!state_.held && ahead_.size() < read_ahead_limit && !pauses));
}

void connection::set_reading(bool on) noexcept {
  if (state_.paused != on || state_.receive_ended || state_.failing) return;
  state_.paused = !on;
  loop_.io().set_reading(*this, on);
}

// Closing now would reset the connection if the peer has sent more, and a reset may destroy what it has not read yet.
void connection::begin_to_linger() noexcept {
  const duration patience = applied_limits().linger_timeout;
  if (state_.receive_ended || patience == duration::zero()) return fail({});
  if (!have_extras()) return;
  state_.lingering = true;
  ahead_.clear();
  state_.has_ahead = false;
  if (!state_.shut) loop_.io().shutdown_send(handle_);
  loop_.start(*extras_, patience);
  update_reading();
}

void connection::report_limit() const noexcept {
  try {
    report(host_.log, {severity::info, "a connection is closed", reason(), peer()});
  } catch (const std::bad_alloc&) {  // nothing is left to say it with
  }
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
  if (host_.log && is_a_limit(why)) report_limit();
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
