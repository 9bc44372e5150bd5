// SPDX-License-Identifier: BSL-1.0
// connection_control: messages from other threads, settings, time limits, draining.
#include <quintet/net/connection.hpp>

#include <algorithm>
#include <utility>

namespace quintet {

// ---- Settings: changed by the baton, adopted by the loop when it comes home -----------------------------------------

connection::settings& connection::changed_settings() {
  if (!changed_) changed_ = own_ ? std::make_unique<settings>(*own_) : std::make_unique<settings>(host_.limits);
  return *changed_;
}

void connection::set_limits(const connection_limits& limits) {
  validate(limits);
  changed_settings().limits = limits;
}

void connection::feed_from(connection_id source) { changed_settings().source = source; }

void connection::adopt_settings() noexcept {
  if (above_watermark_) tell_source(false);
  own_ = std::move(changed_);
  if (above_watermark_) tell_source(true);
  use_limits();
}

void connection::use_limits() noexcept {
  const connection_limits& l = limits();
  gate_ = shutdown_wanted_ ? 0 : std::min(l.high_watermark, l.max_output);
  if (l.send_timeout > duration{}) loop_.io().limit_send(l.send_timeout);
  if (!l.timed()) {
    deadlines_.reset();
  } else if (!deadlines_) {
    deadlines_.reset(new (std::nothrow) connection_deadlines(loop_.now()));
    if (!deadlines_) out_of_memory();
  }
}

// ---- Messages -------------------------------------------------------------------------------------------------------

// On the loop. What needs the baton waits for it; what does not waits only for the end of a message that is being
// written, so that bytes from outside never come to lie within it.
void connection::take(std::unique_ptr<connection_message> message) noexcept {
  if (failing_ || lingering_ || (!baton_out_ && close_wanted_)) return;
  if (!message->needs_baton_ && takes_bytes_now()) return message->run(*this);
  messages_.push(*message.release());
  if (!baton_out_) settle();
}

// The baton is at home.
void connection::sort_messages() noexcept {
  while (work_item* next = messages_.pop()) {
    std::unique_ptr<connection_message> message(static_cast<connection_message*>(next));
    if (message->needs_baton_)
      calls_.push(*message.release());
    else
      message->run(*this);
  }
}

void connection::drop_messages(work_fifo& from) noexcept {
  while (work_item* next = from.pop()) delete static_cast<connection_message*>(next);
}

void connection::close_from_outside() noexcept {
  if (baton_out_) {
    close_asked_ = true;
    return;
  }
  close_wanted_ = true;
  settle();
}

void connection::hold_reading(int change) noexcept {
  holds_ += change;
  if (failing_ || lingering_) return;
  if (baton_out_)
    update_reading();
  else
    settle();
}

// ---- Time -----------------------------------------------------------------------------------------------------------

// Starts the timer if it would fire too late. If it fires too early, expired() starts it again.
void connection::watch_time() noexcept {
  if (!deadlines_ || failing_ || lingering_) return;
  const auto due = deadlines_->next(limits(), !baton_out_, !sending_.empty());
  if (due.when == time_point::max() || (pending() && timer::deadline() <= due.when)) return;
  loop_.start(*this, due.when - loop_.now());
}

void connection::expired() noexcept {
  if (lingering_) return fail({});
  if (!deadlines_) return;
  const auto due = deadlines_->next(limits(), !baton_out_, !sending_.empty());
  if (due.when <= loop_.now()) return fail(due.why);
  watch_time();
}

// ---- Draining -------------------------------------------------------------------------------------------------------

// What the kernel has received by now has been received; what comes later has not, and gets no answer.
void connection::drain() noexcept {
  if (drain_asked_ || failing_ || lingering_) return;
  drain_asked_ = true;
  drain_left_ = loop_.io().unread(handle_);
  if (baton_out_) return;
  drain_begun_ = true;
  settle();
}

// Everything that was received has been answered.
void connection::finish_drain() noexcept {
  if (keeps_baton_) {
    drained_ = true;
    return deliver();  // read() returns nullopt, as at the end of the stream
  }
  if (std::exchange(told_.drain, false)) return send_out(&connection::process_drain);
  close_wanted_ = true;
  if (sending_.empty()) begin_to_linger();
}

}  // namespace quintet
