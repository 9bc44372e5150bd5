// SPDX-License-Identifier: BSL-1.0
// connection_output_notices: functions that are called when the output written before them has been sent.
#include "connection_extras.hpp"
#include "connection_output.hpp"

#include <utility>

namespace quintet::detail {
namespace {

constexpr std::uint64_t out_of_reach = std::uint64_t{1} << 63U;

}  // namespace

// A notice waits on the baton's side while its bytes are in the builder, then on the loop's side. There it is
// scheduled, or the queue holds bytes before it. So the fast path, which counts nothing, is not taken meanwhile.

void connection_output::add_notice(context& c, std::unique_ptr<send_notice> notice) {
  c.extras_of_baton().output.notices_.add(std::move(notice), builder_.size());
  c.baton_flags(key()).checks_writes = true;  // so that the builder joins the queue
  // Without memory for the loop's extras the notice waits for the end of the batch, which needs them too.
  if (c.loop_.in_this_thread() && builder_.empty()) (void)take_notices(c);
}

// [loop, baton] Runs before the builder joins the queue. Returns false without memory. After a failed send, the bytes
// before a notice are never sent: its position is out of reach.
bool connection_output::take_notices(context& c) noexcept {
  if (!c.baton_extras_ || c.baton_extras_->output.notices_.empty() || c.has_ended()) return true;
  if (!c.make_extras()) return false;
  const bool failed = c.loop_flags().output.send_failed;
  output_loop_extras& loop = c.extras_->output;
  loop.notices_.take(c.baton_extras_->output.notices_, failed ? out_of_reach : loop.taken_ + queue_.size());
  if (failed) schedule_notices(c);
  count_sent_for_notices(c, 0);
  return true;
}

void connection_output::count_sent_for_notices(context& c, std::size_t count) noexcept {
  if (!c.extras_ || c.extras_->output.notices_.empty()) return;
  c.extras_->output.taken_ += count;
  if (c.extras_->output.notices_.is_due(c.extras_->output.taken_)) schedule_turn_end(c);
}

// Deferred: a handler may be in the middle of a flush().
void connection_output::schedule_notices(context& c) noexcept {
  if (c.extras_ && !c.extras_->output.notices_.empty()) schedule_turn_end(c);
}

void connection_output::call_notices(context& c, error_code why) noexcept {
  unsigned thrown = c.extras_->output.notices_.call_due(c.extras_->output.taken_);
  if (why) thrown += c.extras_->output.notices_.call_all(why);
  c.loop_.counters().handler_errors.add(thrown);
}

// The baton was returned for the last time, and no handler is running.
void connection_output::call_all_notices(context& c, error_code why) noexcept {
  if (c.extras_) call_notices(c, why);
  if (c.baton_extras_) c.loop_.counters().handler_errors.add(c.baton_extras_->output.notices_.call_all(why));
}

// ---- The end of the turn --------------------------------------------------------------------------------------------

void connection_output::schedule_turn_end(context& c) noexcept {
  if (!std::exchange(c.extras_->output.is_at_turn_end_, true)) c.loop_.defer(*c.extras_);
}

bool connection_output::is_at_turn_end(const context& c) noexcept {
  return c.extras_ && c.extras_->output.is_at_turn_end_;
}

bool connection_output::turn_ends(context& c, error_code why) noexcept {
  c.extras_->output.is_at_turn_end_ = false;
  call_notices(c, why);
  return std::exchange(c.extras_->output.sends_at_turn_end_, false);
}

}  // namespace quintet::detail
