// SPDX-License-Identifier: BSL-1.0
// connection_output: from the builder to the kernel, and the queue when the kernel takes no more.
#include "connection_output.hpp"

#include "../engine/socket_services.hpp"
#include "connection_extras.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <new>
#include <utility>

namespace quintet::detail {
namespace {

constexpr std::size_t most_pieces = 64;  // per send: a megabyte of chunks, and far below IOV_MAX
static_assert(most_pieces <= IOV_MAX);

}  // namespace

// ---- The builder ----------------------------------------------------------------------------------------------------

std::size_t connection_output::queued(const context& c) const noexcept {
  if (c.loop_.in_this_thread()) return queue_.size();
  return c.baton_extras_ ? c.baton_extras_->output.queued_ : 0;
}

connection_output::write_verdict connection_output::check_write(context& c, std::size_t count) {
  if (c.baton_flags().output.shutdown_requested || c.baton_flags().input.starts_tls) return write_verdict::rejected;
  const std::size_t waits = written() + queued(c);
  if (waits + count <= std::min(c.applied_limits().high_watermark, c.applied_limits().max_output))
    return write_verdict::accepted;
  return check_limited_write(c, count, waits);
}

// The server's budget counts output above the gate before it takes memory. The policies pause and close start later,
// when the loop sees that the peer does not take it.
connection_output::write_verdict connection_output::check_limited_write(context& c, std::size_t count,
                                                                        std::size_t waits) {
  const connection_limits& limits = c.applied_limits();
  output_baton_flags& flags = c.baton_flags(key());
  if (waits > limits.high_watermark) {
    if (limits.overflow == overflow_policy::error) return write_verdict::rejected;
    if (limits.overflow == overflow_policy::drop) {
      ++c.extras_of_baton().counts.dropped;
      c.note_changes();
      return write_verdict::dropped;
    }
  }
  const std::size_t after = written() + count;
  flags.checks_writes = true;
  flags.overflowed = flags.overflowed || waits + count > limits.max_output ||
                     !c.host_.output.changed(std::exchange(c.extras_of_baton().output.charged_, after), after,
                                             c.host_.registry.count());
  return flags.overflowed ? write_verdict::rejected : write_verdict::accepted;
}

void connection_output::append(context& c, std::span<const bytes> pieces) {
  for (const bytes& piece : pieces) {
    if (builder_.try_append(piece)) continue;
    chunk_cache* const spare = c.loop_.in_this_thread() ? &c.loop_.chunks() : nullptr;
    if (spare) spare->allocate(builder_);
    if (!builder_.try_append(piece)) builder_.append(piece, spare);
  }
  c.baton_flags(key()).checks_writes |= !builder_.is_one_piece();
}

void connection_output::append(context& c, shared_bytes data) {
  builder_.append(std::move(data), 0);
  c.baton_flags(key()).checks_writes |= !builder_.is_one_piece();
}

void connection_output::cork(context& c) { ++c.extras_of_baton().output.corks_; }

bool connection_output::uncork(context& c) noexcept { return --c.baton_extras_->output.corks_ == 0; }

bool connection_output::is_full(const context& c) const noexcept {
  return c.baton_flags().output.quantum_used || written() > fair_tasks::quantum || is_above_watermark(c) ||
         (c.is_on_loop() && !c.loop_.fair_work().has_quota());
}

bool connection_output::is_writable(context& c) noexcept {
  const bool continues = c.enabled_.writable;
  if (continues ? !is_full(c) : !is_above_watermark(c)) return true;
  output_baton_flags& flags = c.baton_flags(key());
  if (c.is_on_loop() && !flags.wants_writable) c.loop_.fair_work().count_written(written());
  flags.wants_writable |= continues;
  return false;
}

// With the policies that drop or reject, the handler decides itself. On another thread, a batch late in the loop's turn
// begins with its quantum used up: that is no reason to stop after each message.
bool connection_output::yield_if_full(context& c) const noexcept {
  if (c.baton_flags().input.starts_tls) return true;
  const overflow_policy policy = c.applied_limits().overflow;
  if (policy == overflow_policy::drop || policy == overflow_policy::error) return false;
  output_baton_flags& flags = c.baton_flags(key());
  const bool sent_quantum = flags.quantum_used && c.is_on_loop();
  if (!sent_quantum && written() <= fair_tasks::quantum && !is_above_watermark(c)) return false;
  return flags.yields = true;
}

bool connection_output::end_wait(context& c) noexcept {
  output_baton_flags& flags = c.baton_flags(key());
  const bool wants_writable = flags.wants_writable;
  flags.yields = flags.wants_writable = flags.reads_on = false;
  return wants_writable;
}

bool connection_output::prepare_slowly(context& c) noexcept {
  c.loop_.chunks().try_allocate(builder_);
  classify_writes(c);
  if (c.loop_flags().output.is_queued && !c.make_baton_extras()) return false;
  if (c.baton_extras_) c.baton_extras_->output.queued_ = queue_.size();
  return true;
}

void connection_output::classify_writes(context& c, bool only_more) noexcept {
  const connection_limits& l = c.applied_limits();
  const std::size_t gate = std::min(l.high_watermark, l.max_output);
  output_baton_flags& flags = c.baton_flags(key());
  flags.checks_writes = (only_more && flags.checks_writes) || flags.shutdown_requested ||
                        c.baton_flags().input.starts_tls || !builder_.is_one_piece() ||
                        gate < byte_chain::chunk_size + queue_.size();
}

void connection_output::leave(context& c) noexcept {
  c.baton_flags(key()).quantum_used = !c.loop_.fair_work().has_quota();
  c.loop_.fair_work().count_written(fair_tasks::quantum / 4);
}

void connection_output::drop_builder(context& c) noexcept {
  c.loop_.chunks().recycle(builder_);
  if (c.baton_extras_) c.host_.output.released(std::exchange(c.baton_extras_->output.charged_, 0));
}

// After a failed send a handler may finish a long reply, so that it comes to the next input.
bool connection_output::exceeds_futile_writes(context& c) noexcept {
  constexpr unsigned most_futile_quanta = 1024;
  if (!c.loop_flags().output.send_failed) return false;
  unsigned& count = c.extras_->output.futile_quanta_;
  count = c.baton_flags().output.wants_writable ? count + 1 : 0;
  return count > most_futile_quanta;
}

// ---- To the kernel --------------------------------------------------------------------------------------------------

end_reason connection_output::keep_sending(context& c, engine::send_result sent) noexcept {
  if (const end_reason why = account(c, sent)) {
    c.loop_.chunks().recycle(builder_);
    return why;
  }
  builder_.consume(sent.bytes, c.loop_.chunks());
  return join_queue(c, true);
}

void connection_output::leave_fast_path(context& c) const noexcept {
  c.loop_.chunks().give_away(builder_);
  if (c.baton_extras_) c.baton_extras_->output.queued_ = queue_.size();
}

bool connection_output::send_early(context& c, counter& reason, end_reason& failed) noexcept {
  if (!c.loop_.in_this_thread() || c.has_ended() || builder_.empty()) return false;
  if (c.baton_extras_ && c.baton_extras_->output.corks_ > 0) return false;
  if (c.constants_.keeps_baton) c.note_progress(true);
  failed = count_sends(c, reason, [&] { return send_built(c); });
  c.loop_.chunks().try_allocate(builder_);
  classify_writes(c);
  return true;
}

end_reason connection_output::send_quantum(context& c) noexcept {
  end_reason failed;
  if (builder_.size() < fair_tasks::quantum || !send_early(c, c.loop_.counters().sends_full, failed)) return failed;
  c.loop_flags(key()).partial_message = true;
  c.baton_flags(key()).quantum_used = true;
  c.loop_.fair_work().count_written(fair_tasks::quantum);
  return failed;
}

end_reason connection_output::account(context& c, engine::send_result sent) noexcept {
  c.loop_.counters().sent(sent.bytes);
  count_sent_for_notices(c, sent.bytes);
  if (c.loop_.io().capabilities().blocking_send) c.loop_.invalidate_now();
  if (connection_deadlines* const d = c.deadlines(); d && sent.bytes > 0) d->sent(sent.bytes, c.loop_.now());
  if (sent.error == 0) return {};
  c.loop_flags(key()).send_failed = true;
  return end_reason::of_send(sent.error);
}

end_reason connection_output::join_queue(context& c, bool kernel_is_full) noexcept {
  c.loop_.chunks().give_away(builder_);
  if (!take_notices(c)) return no_memory();
  const std::size_t charged = c.baton_extras_ ? std::exchange(c.baton_extras_->output.charged_, 0) : 0;
  const bool is_empty = builder_.empty();
  queue_.splice(builder_, c.loop_.chunks());
  c.loop_.chunks().recycle(builder_);
  if (is_empty && charged == 0) return {};
  c.loop_flags(key()).is_queued = true;
  // A queue that is charged has waited before: the kernel reports when it takes more.
  const bool waits = kernel_is_full || (c.extras_ && c.extras_->output.charged_ > 0);
  if (charged > 0 && !c.make_extras()) {
    c.host_.output.released(charged);
    return no_memory();
  }
  if (charged > 0) c.extras_->output.charged_ += charged;
  return waits ? queue_changed(c) : send_all(c);
}

end_reason connection_output::send_queue(context& c, counter& reason) noexcept {
  return count_sends(c, reason, [&] { return send_all(c); });
}

// Sends until the kernel takes less than it is offered.
end_reason connection_output::send_all(context& c) noexcept {
  if (c.loop_flags().output.send_failed) return discard(c);
  for (bool goes_on = true; goes_on && !queue_.empty();) {
    std::array<iovec, most_pieces> pieces;
    const output_pieces gathered(pieces.data(), queue_.gather(pieces));
    const std::size_t offered = size_of(gathered);  // an engine may change the pieces
    const engine::send_result sent = c.loop_.io().send(c, gathered);
    if (const end_reason why = account(c, sent)) return why;
    queue_.consume(sent.bytes, c.loop_.chunks());
    if (queue_.empty()) c.loop_.chunks().recycle(queue_);
    goes_on = sent.bytes == offered;
  }
  return queue_changed(c);
}

// Frees the memory and lifts the watermarks, so that output holds no input any more.
end_reason connection_output::discard(context& c) noexcept {
  c.loop_flags(key()).send_failed = true;
  c.loop_.chunks().recycle(queue_);
  schedule_notices(c);
  return queue_changed(c);
}

void connection_output::shut_down(context& c) noexcept {
  if (c.loop_flags().output.send_shut) return;
  c.loop_flags(key()).send_shut = true;
  c.loop_.io().shutdown_send(c);
}

// ---- From outside ---------------------------------------------------------------------------------------------------

namespace {

/// Returns whether bytes from outside may be sent, now or later.
bool takes_from_outside(const connection_context& c) noexcept {
  const output_loop_flags& flags = c.loop_flags().output;
  if (flags.send_shut || flags.send_failed || c.is_lingering() || c.has_ended()) return false;
  return c.baton_is_out() || !(c.is_closing() || c.baton_flags().output.shutdown_requested);
}

}  // namespace

std::size_t connection_output::urgent_room(const context& c) const noexcept {
  const std::size_t most = c.applied_limits().high_watermark;
  if (c.loop_flags().output.above_watermark || !takes_from_outside(c)) return 0;
  return most - std::min(most, queue_.size());
}

end_reason connection_output::send_message(context& c, const shared_bytes& data) noexcept {
  if (!takes_from_outside(c)) return {};
  const overflow_policy policy = c.applied_limits().overflow;
  if (c.loop_flags().output.above_watermark && (policy == overflow_policy::drop || policy == overflow_policy::error)) {
    c.loop_.counters().dropped.add();
    return {};
  }
  return send_beside(c, *data, &data,
                     data->size() < c.applied_limits().merge_threshold && queue_.size() < fair_tasks::quantum);
}

end_reason connection_output::send_beside(context& c, bytes data, const shared_bytes* whole, bool merges) noexcept {
  const std::size_t most = c.applied_limits().max_output;
  if (data.size() > most - std::min(most, queue_.size())) return errc::output_overflow;
  std::size_t gone = 0;
  if (!merges && queue_.empty()) {
    const end_reason why = count_sends(c, c.loop_.counters().sends_outside, [&] {
      const engine::send_result sent = c.loop_.io().send(c, data);
      gone = sent.bytes;
      return account(c, sent);
    });
    if (why || gone == data.size()) return why;
  }
  try {
    if (!whole || data.size() - gone < c.applied_limits().merge_threshold)
      queue_.append(data.substr(gone), &c.loop_.chunks());
    else
      queue_.append(*whole, gone);
  } catch (const std::bad_alloc&) {
    return no_memory();
  }
  if (!merges) return queue_changed(c);
  c.loop_flags(key()).is_queued = true;
  // Small data waits for the end of the turn, so that a burst from other threads leaves in one send.
  if (!c.make_extras()) return no_memory();
  c.extras_->output.sends_at_turn_end_ = true;
  schedule_turn_end(c);
  return {};
}

// ---- The queue's length and its consequences ------------------------------------------------------------------------

end_reason connection_output::queue_changed(context& c) noexcept {
  const std::size_t now = queue_.size();
  c.loop_flags(key()).is_queued = now > 0;
  if (now == 0 && !c.extras_) return {};
  if (!c.make_extras()) return no_memory();
  const std::size_t before = std::exchange(c.extras_->output.charged_, now);
  if (connection_deadlines* const d = c.deadlines()) {
    if (d->output(now > 0, c.loop_.now())) {
      sample_progress(c);  // what the peer takes from now on is progress
      c.watch_time();
    } else if (now == 0 && c.baton_is_out()) {
      c.extras_->cancel();  // it counts for output; the baton's return starts it for other limits
    }
  }
  if (!c.host_.output.changed(before, now, c.host_.registry.count())) return errc::output_overflow;
  return watch_watermarks(c);
}

void connection_output::sample_progress(context& c) noexcept {
  if (connection_deadlines* const d = c.deadlines(); d && d->output_waits())
    d->sample_progress(c.loop_.io().unsent(c), c.loop_.now());
}

end_reason connection_output::watch_watermarks(context& c) noexcept {
  const connection_limits& l = c.applied_limits();
  output_loop_flags& flags = c.loop_flags(key());
  const bool above = queue_.size() > (flags.above_watermark ? l.low_watermark : l.high_watermark);
  if (above != flags.above_watermark) {
    flags.above_watermark = above;
    if (connection_deadlines* const d = c.deadlines(); d && !c.baton_is_out())
      d->hold(c.ignores_input(), c.loop_.now());
    if (!notify_watermark(c, above)) return no_memory();
  }
  if (l.overflow == overflow_policy::close && queue_.size() > l.high_watermark) return errc::output_full;
  return {};
}

bool connection_output::notify_watermark(context& c, bool above) noexcept try {
  if (c.applied_limits().overflow == overflow_policy::error) c.host_.registry.set_full(c.id_, above);
  if (c.own_ && c.own_->source) c.host_.registry.throttle(c.own_->source, above ? 1 : -1);
  return true;
} catch (const std::bad_alloc&) {
  if (above) c.loop_flags(key()).above_watermark = false;  // drop_queue() must not undo what was not told
  return false;
}

// Frees memory together with its charge, not when the object is destroyed at the end of the turn.
void connection_output::drop_queue(context& c) noexcept {
  output_loop_flags& flags = c.loop_flags(key());
  c.loop_.chunks().recycle(queue_);
  if (c.extras_) c.host_.output.released(std::exchange(c.extras_->output.charged_, 0));
  if (flags.above_watermark) (void)notify_watermark(c, false);
  flags.partial_message |= flags.is_queued || flags.send_failed;  // a truncated reply must not look complete
  flags.is_queued = flags.above_watermark = false;
}

void connection_output::release(context& c) noexcept {
  c.loop_.chunks().recycle(builder_);
  c.loop_.chunks().recycle(queue_);
}

bool connection_output::is_quiescent(const context& c) noexcept {
  if (!c.loop_flags().output.none() || c.baton_flags().output.shutdown_requested || c.waits_for_room()) return false;
  if (c.own_ && c.own_->source) return false;  // it would have to be told of this connection's new place
  return !(c.extras_ && (c.extras_->output.is_at_turn_end_ || !c.extras_->output.notices_.empty()));
}

}  // namespace quintet::detail
