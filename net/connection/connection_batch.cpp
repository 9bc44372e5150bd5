// SPDX-License-Identifier: BSL-1.0
// connection_batch: the way of a batch, from the engine to the handler and its output back to the engine. All that most
// messages cost is in this file, and where is_calm() says so it is nearly nothing (benchmarks/budget).
#include "connection.hpp"

#include "../loop/homecoming.hpp"

#include <algorithm>

namespace quintet {

void connection::on_received(bytes arrived) noexcept {
  note_received(arrived.size());
  receive(arrived);
}

void connection::deliver() noexcept {
  if (told_.classify && !classify()) [[unlikely]]
    return;
  loop_.counters().batches.add();
  baton_.expects = false;
  if (!runs_here_ && !stays_here()) {
    // What it will write is not known, and one that comes late in a turn may have to wait before it writes much.
    baton_.had_its_share = !loop_.shares_left();
    loop_.count_written(event_loop::turn_share / 4);
    return send_out(&connection::process_batch, {.quick = cost_.is_known() && cost_.value() <= host_.offload.threshold,
                                                 .may_come_too_late = told_.overload});
  }
  leave();
  process_batch(*this);
}

// Of a model with a pool: whether this batch is not worth the way there.
bool connection::stays_here() noexcept {
  if (!host_.offload.is_adaptive()) return false;
  loop_counters& count = loop_.counters();
  using enum offload_gauge::verdict;
  const auto verdict = loop_.offloading().judge(cost_, host_.offload, [this] { return loop_.now(); });
  (verdict == here      ? count.batches_inline
   : verdict == unknown ? count.offloads_unknown
   : verdict == dear    ? count.offloads_dear
                        : count.offloads_held_back)
      .add();
  return verdict == here;
}

// With the baton, on whatever thread the batch was run.
void connection::note_cost(duration took) noexcept {
  cost_.add(took);
  if (took <= host_.offload.threshold || !loop_.in_this_thread()) [[likely]]
    return;
  loop_.counters().misjudged.add();
  loop_.counters().misjudged_ns.add(static_cast<std::uint64_t>(took / std::chrono::nanoseconds(1)));
  loop_.offloading().misjudged(took, host_.offload, loop_.time().now());
}

[[gnu::always_inline]] inline void connection::run_guarded_batch() noexcept {
  const time_point begun = runs_here_ ? time_point() : loop_.time().now();
  guarded([this] {
    const bytes input = input_is_lent_ ? loop_.lent_input() : input_buffer_.data();
    use_input(input, is_too_late() ? run_overload(input) : run_batch(input));
  });
  if (!runs_here_ && !is_too_late()) note_cost(loop_.time().now() - begun);
  set_hints({});
}

// What it calls is over when the baton goes home, and with it perhaps the connection.
[[gnu::noinline]] void connection::run_watched_batch() noexcept {
  const activity::scope now = calling(callback::input);
  run_guarded_batch();
}

void connection::process_batch(work_item& item) noexcept {
  connection& c = with_baton(item);
  if (c.keeps_baton_ || c.is_watched_) [[unlikely]] {
    if (c.keeps_baton_) return static_cast<void>(c.run_batch({}));
    c.run_watched_batch();
  } else {
    c.run_guarded_batch();
  }
  c.input_is_lent_ = false;
  c.give_back();
}

// There was no memory for input that had to travel: the handler has nothing to look at.
void connection::process_lost_batch(work_item& item) noexcept {
  connection& c = with_baton(item);
  c.lost_batch_ = true;
  c.fail_handler();
  c.set_hints({});
  c.give_back();
}

void connection::use_input(bytes input, std::size_t count) {
  const bool all = count >= input.size();
  if (baton_.timed) got_on_ = count > 0;
  if (!input_is_lent_) {
    input_buffer_.consume(std::min(count, input.size()));
    baton_.has_input = !all;
  } else if (!all) {
    keep(input.substr(count));  // what is lent has not travelled
  }
}

void connection::give_back() noexcept {
  guard_.leave();
  if (runs_here_) return come_home(*this);
  become(&connection::come_home);
  if (loop_.in_this_thread())
    come_home(*this);
  else if (homecoming* const together = homecoming::current())
    together->add(loop_, *this);
  else
    loop_.post(static_cast<work_item&>(*this));
}

void connection::come_home(work_item& item) noexcept {
  connection& c = of(item);
  c.state_.baton_out = c.baton_.had_its_share = false;
  if (c.input_buffer_.equipped() && !c.baton_.has_input) {
    c.loop_.buffers().take_back(c.input_buffer_);
    // Where the handler keeps more itself, it is charged later.
    if (c.extras_ && c.extras_->input_charged > 0 && !c.baton_.has_changes) [[unlikely]] {
      c.state_.baton_out = true;  // so that fail() leaves the rest to come_home_otherwise()
      c.charge_input();
      c.state_.baton_out = false;
    }
  }
  if (c.is_calm_but_for_detours()) return c.send_output();
  c.come_home_otherwise();
}

// With the baton at home or held by who asks: what has been written is sent, or joins what waits.
void connection::send_output() noexcept {
  if (state_.sending || baton_.checks_writes || !output_.is_one_piece()) [[unlikely]]
    return join_sending(false);
  send_piece();
}

// Of a piece not all has gone.
void connection::keep_sending(engine::send_result sent) noexcept {
  const std::size_t count = gone(sent);
  if (state_.failing) return;  // the data side may be on its way to on_close
  output_.consume(count, loop_.chunks());
  join_sending(true);
}

std::size_t connection::gone(engine::send_result sent) noexcept {
  loop_.counters().sent(sent.bytes);
  note_taken(sent.bytes);
  if (loop_.io().capabilities().blocking_send) loop_.time_has_passed();
  if (connection_deadlines* const d = deadlines(); d && sent.bytes > 0) d->sent(loop_.now());
  if (sent.error != 0) fail(system_error_code(sent.error));
  return sent.bytes;
}

std::size_t connection::offer(bytes data) noexcept { return gone(loop_.io().send(*this, data)); }
std::size_t connection::offer(output_pieces pieces) noexcept { return gone(loop_.io().send(*this, pieces)); }

}  // namespace quintet
