// SPDX-License-Identifier: BSL-1.0
// connection_output: from write() to the kernel, and what happens when the kernel takes no more.
#include <quintet/net/connection.hpp>

#include <algorithm>
#include <new>
#include <utility>

namespace quintet {
namespace {

constexpr std::size_t early_send_size = 64 * 1024;  // a long batch of replies starts to leave before its end
constexpr std::size_t merged_send_size = 4 * 1024;  // what is smaller is worth a copy to save a system call

}  // namespace

bool connection::write(bytes data) {
  if (waiting_ + output_.size() + data.size() > gate_) [[unlikely]] {
    const admission verdict = admit(data.size());
    if (verdict != admission::taken) return verdict == admission::dropped;
  }
  if (!output_.equipped() && loop_.in_this_thread()) loop_.buffers().equip(output_);
  output_.append(data);
  if (output_.size() >= early_send_size && send_now()) mid_message_ = true;
  return true;
}

void connection::flush() {
  if (send_now()) mid_message_ = false;
}

// From within a batch. False when nothing has left: elsewhere, or behind what is waiting.
bool connection::send_now() {
  if (!loop_.in_this_thread() || failing_ || output_.empty() || !sending_.empty()) return false;
  got_on_ = true;
  if (!send_some(output_) && !failing_) {
    sending_.swap(output_);
    output_waits();
  }
  waiting_ = sending_.size();
  return true;
}

connection::admission connection::admit(std::size_t count) noexcept {
  if (shutdown_wanted_) return admission::refused;
  const std::size_t waits = output_.size() + (loop_.in_this_thread() ? sending_.size() : waiting_);
  if (waits + count > limits().max_output) {
    overflowed_ = true;
    return admission::refused;
  }
  if (waits <= limits().high_watermark) return admission::taken;
  switch (limits().full) {
    case when_full::drop:
      ++dropped_;
      return admission::dropped;
    case when_full::error:
      return admission::refused;
    case when_full::pause:
    case when_full::close:  // as soon as the loop sees that the peer does not take it
      break;
  }
  return admission::taken;
}

// On the loop, not in the middle of what the handler writes.
void connection::send_from_outside(bytes data) noexcept {
  const bool ends = shut_ || lingering_ || (!baton_out_ && (close_wanted_ || shutdown_wanted_));
  if (failing_ || ends) return;
  const bool full = above_watermark_ && (limits().full == when_full::drop || limits().full == when_full::error);
  if (full) return loop_.counters().dropped.add();
  if (data.size() > limits().max_output - std::min(limits().max_output, sending_.size()))
    return fail(errc::output_overflow);
  const bool merges = data.size() < merged_send_size && sending_.size() < early_send_size;
  if (!merges && sending_.empty()) data.remove_prefix(offer(data));
  if (failing_ || data.empty()) return;
  try {
    loop_.buffers().equip(sending_);
    sending_.append(data);
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
  if (!merges) return output_waits();
  if (!std::exchange(flusher_.due, true)) loop_.defer(flusher_);
}

// The end of a turn: before it nothing small was sent, so that a burst from other threads leaves in one send.
void connection::send_merged() noexcept {
  flusher_.due = false;
  if (failing_) return;
  send_output();
  if (!failing_ && !baton_out_) settle();
}

void connection::send_output() noexcept {
  const bool waited = !sending_.empty();
  const bool more = !baton_out_ && !output_.empty();
  if (waited) {
    send_some(sending_);
    if (!failing_ && more && !sending_.empty()) append_output();
  }
  if (failing_) return;  // from here on the data side may be on its way to on_close
  if (sending_.empty()) {
    loop_.buffers().take_back(sending_);
    if (more && !output_.empty() && !send_some(output_)) {
      if (failing_) return;
      sending_.swap(output_);
    }
  }
  if (!baton_out_) loop_.buffers().take_back(output_);
  if (waited || !sending_.empty()) output_waits();
}

// Behind what waits already, so that one number says how much does.
void connection::append_output() noexcept {
  try {
    sending_.append(output_.data());
    output_.clear();
  } catch (const std::bad_alloc&) {
    out_of_memory();
  }
}

// True when all of it has gone.
bool connection::send_some(cached_buffer& from) noexcept {
  from.consume(offer(from.data()));
  return from.empty();
}

std::size_t connection::offer(bytes data) noexcept {
  error_code broken;
  const std::size_t sent = loop_.io().send(*this, data, broken);
  loop_.counters().sends.add();
  loop_.counters().bytes_sent.add(sent);
  if (broken) fail(broken);
  return sent;
}

// What waits to be sent has changed.
void connection::output_waits() noexcept {
  const std::size_t now = sending_.size(), before = std::exchange(charged_, now);
  if (deadlines_ && now != before) {
    deadlines_->sending(loop_.now());
    watch_time();
  }
  if (!host_.output.changed(before, now)) return fail(errc::output_overflow);
  watch_watermarks();
}

void connection::watch_watermarks() noexcept {
  const connection_limits& l = limits();
  const bool above = sending_.size() > (above_watermark_ ? l.low_watermark : l.high_watermark);
  if (above == above_watermark_) return;
  above_watermark_ = above;
  if (above && l.full == when_full::close) return fail(errc::output_full);
  if (l.full == when_full::error) host_.registry.set_full(id_, above);
  tell_source(above);
}

void connection::tell_source(bool hold) noexcept {
  if (!own_ || !own_->source) return;
  try {
    host_.registry.hold(own_->source, hold ? 1 : -1);
  } catch (const std::bad_alloc&) {
    out_of_memory();
  }
}

}  // namespace quintet
