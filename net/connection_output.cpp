// SPDX-License-Identifier: BSL-1.0
// connection_output: from write() to the kernel, and what happens when the kernel takes no more.
#include <quintet/net/connection.hpp>

#include <algorithm>
#include <array>
#include <new>
#include <utility>

namespace quintet {
namespace {

constexpr std::size_t early_send_size = 64 * 1024;  // a long batch of replies starts to leave before its end
constexpr std::size_t merged_send_size = 4 * 1024;  // what is smaller is worth a copy to save a system call
constexpr std::size_t most_pieces = 64;             // in one send: a megabyte of chunks, and far below IOV_MAX

}  // namespace

bool connection::write(bytes data) {
  if (waiting_ + output_.size() + data.size() > gate_) [[unlikely]] {
    const admission verdict = admit(data.size());
    if (verdict != admission::taken) return verdict == admission::dropped;
  }
  if (!output_.try_append(data)) append_output(data);
  if (output_.size() >= early_send_size && send_now()) mid_message_ = true;
  return true;
}

void connection::append_output(bytes data) {
  chunk_cache* const spare = loop_.in_this_thread() ? &loop_.chunks() : nullptr;
  if (spare) spare->equip(output_);
  if (!output_.try_append(data)) output_.append(data, spare);
}

void connection::flush() {
  if (send_now()) mid_message_ = false;
}

// From within a batch. False when nothing has left: elsewhere, or behind what is waiting.
bool connection::send_now() {
  if (!loop_.in_this_thread() || failing_ || output_.empty() || !sending_.empty()) return false;
  got_on_ = true;
  send_output();
  waiting_ = sending_.size();
  return true;
}

// What is above the gate is known to the server's budget before it takes memory.
connection::admission connection::admit(std::size_t count) noexcept {
  if (shutdown_wanted_) return admission::refused;
  const std::size_t waits = output_.size() + waiting_now();
  if (waits > limits().high_watermark) {
    if (limits().full == when_full::error) return admission::refused;
    if (limits().full == when_full::drop) {
      ++dropped_;
      return admission::dropped;
    }
    // The others begin as soon as the loop sees that the peer does not take it.
  }
  const std::size_t written = output_.size() + count;
  overflowed_ = overflowed_ || waits + count > limits().max_output ||
                !host_.output.changed(std::exchange(output_charged_, written), written);
  return overflowed_ ? admission::refused : admission::taken;
}

// On the loop, not in the middle of what the handler writes. What is large is kept by reference: a broadcast that many
// peers do not read takes the memory of one.
void connection::send_from_outside(const shared_bytes& data) noexcept {
  const bool ends = shut_ || lingering_ || (!baton_out_ && (close_wanted_ || shutdown_wanted_));
  if (failing_ || ends) return;
  const bool full = above_watermark_ && (limits().full == when_full::drop || limits().full == when_full::error);
  if (full) return loop_.counters().dropped.add();
  if (data->size() > limits().max_output - std::min(limits().max_output, sending_.size()))
    return fail(errc::output_overflow);
  const bool merges = data->size() < merged_send_size && sending_.size() < early_send_size;
  const std::size_t gone = !merges && sending_.empty() ? offer(*data) : 0;
  if (failing_ || gone == data->size()) return;
  try {
    if (data->size() - gone < merged_send_size)
      sending_.append(bytes(*data).substr(gone), &loop_.chunks());
    else
      sending_.append(data, gone);
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
  if (!merges) return output_waits();
  wait_for_turn_end();
}

void connection::wait_for_turn_end() noexcept {
  if (!std::exchange(turn_end_.due, true)) loop_.defer(turn_end_);
}

// Before this nothing small was sent, so that a burst from other threads leaves in one send; and a handler that had
// more to write than it may keep waiting has not gone on, so that a peer that reads fast is not the only one served.
void connection::turn_ends() noexcept {
  turn_end_.due = false;
  if (failing_) return;
  send_waiting();
  if (failing_ || baton_out_) return;
  if (wants_writable_ && !close_wanted_ && sending_.size() <= limits().low_watermark) {
    wants_writable_ = false;
    return send_out(&connection::process_writable);
  }
  settle();
}

// On the loop, with the baton at home or held by who asks: what has been written is sent, or joins what waits.
void connection::send_output() noexcept {
  bool waits = charged_ > 0;  // the kernel takes no more, and says when it does
  if (sending_.empty() && output_charged_ == 0) [[likely]] {
    if (output_.empty()) return loop_.chunks().take_back(output_);
    if (output_.is_one_piece()) [[likely]] {
      if (send_some(output_)) return;
      if (failing_) return;  // the data side may be on its way to on_close
      waits = true;
    }
  }
  sending_.splice(output_, loop_.chunks());
  loop_.chunks().take_back(output_);
  charged_ += std::exchange(output_charged_, 0);
  if (waits)
    output_waits();
  else
    send_waiting();
}

void connection::send_waiting() noexcept {
  while (!sending_.empty() && send_some(sending_)) {
  }
  if (!failing_) output_waits();
}

// True when all of it has gone, or as much as one send gathers.
bool connection::send_some(byte_chain& from) noexcept {
  if (!from.is_one_piece()) [[unlikely]]
    return send_pieces(from);
  const std::size_t sent = offer(from.front());
  if (failing_) return false;
  if (sent < from.size()) return from.consume(sent, loop_.chunks()), false;
  loop_.chunks().take_back(from);
  return true;
}

bool connection::send_pieces(byte_chain& from) noexcept {
  std::array<iovec, most_pieces> pieces;
  const output_pieces gathered(pieces.data(), from.gather(pieces));
  const std::size_t offered = size_of(gathered), sent = offer(gathered);
  if (failing_) return false;
  from.consume(sent, loop_.chunks());
  if (from.empty()) loop_.chunks().take_back(from);
  return sent == offered;
}

std::size_t connection::offer(bytes data) noexcept {
  iovec piece{const_cast<char*>(data.data()), data.size()};  // which is only read
  return offer(output_pieces(&piece, 1));
}

std::size_t connection::offer(output_pieces pieces) noexcept {
  error_code broken;
  const std::size_t sent = loop_.io().send(*this, pieces, broken);
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
