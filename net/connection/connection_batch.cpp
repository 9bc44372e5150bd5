// SPDX-License-Identifier: BSL-1.0
// connection_batch: the way of a batch, from the engine to the handler and its output back to the engine. All that most
// messages cost is in this file, and where is_calm() says so it is nearly nothing (benchmarks/budget).
#include "connection.hpp"

#include "../loop/post_batch.hpp"

#include <algorithm>
#include <new>

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
  send_out(&connection::process_batch, {.is_measured = true, .can_shed = told_.overload});
}

// The way out, of all but what nothing disturbs.
void connection::leave() noexcept {
  state_.baton_out = true;
  if (baton_.timed) [[unlikely]]
    stand_still();
  loop_.chunks().try_equip(output_);
  gauge_writes();
  if (state_.sending && !have_baton_extras()) return;
  if (baton_extras_) baton_extras_->waiting = sending_.size();
}

// Where the model always runs work here and now, it is not asked.
void connection::send_out(work_item::function step, work_facts about) noexcept {
  leave();
  if (runs_here_) return step(*this);
  become(step);
  set_facts(about);
  dispatch(*this);
}

// On the loop, before the item goes to another thread: lent input becomes the connection's own.
void connection::on_handoff(work_item& item) noexcept {
  connection& c = of(item);
  if (c.is_measured()) {  // a batch
    // What it will write is not known, and one that comes late in a turn may have to wait before it writes much.
    c.baton_.had_its_share = !c.loop_.shares_left();
    c.loop_.count_written(event_loop::turn_share / 4);
  }
  if (!c.input_is_lent_) return;
  c.input_is_lent_ = false;
  try {
    c.loop_.buffers().equip(c.input_buffer_);
    c.input_buffer_.append(c.loop_.lent_input());
    c.baton_.has_input = true;
  } catch (const std::bad_alloc&) {
    c.become(&connection::process_lost_batch);
  }
}

// With the baton, on whatever thread the batch was run. The thread model decides what the cost means.
void connection::note_batch_cost(duration took) noexcept {
  note_cost(took);
  if (loop_.in_this_thread()) loop_.note_handler_time(took);
}

[[gnu::always_inline]] inline void connection::run_guarded_batch() noexcept {
  const time_point begun = runs_here_ ? time_point() : loop_.time().now();
  guarded([this] {
    const bytes input = input_is_lent_ ? loop_.lent_input() : input_buffer_.data();
    use_input(input, is_expired() ? run_overload(input) : run_batch(input));
  });
  if (!runs_here_ && !is_expired()) note_batch_cost(loop_.time().now() - begun);
}

// What it calls has ended when the baton is returned, and with it perhaps the connection.
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

// There was no memory to hand the input off: the handler has nothing to look at.
void connection::process_lost_batch(work_item& item) noexcept {
  connection& c = with_baton(item);
  c.lost_batch_ = true;
  c.fail_handler();
  c.give_back();
}

void connection::use_input(bytes input, std::size_t count) {
  const bool all = count >= input.size();
  if (baton_.timed) got_on_ = count > 0;
  if (!input_is_lent_) {
    input_buffer_.consume(std::min(count, input.size()));
    baton_.has_input = !all;
  } else if (!all) {
    keep(input.substr(count));  // what is lent was not handed off
  }
}

void connection::give_back() noexcept {
  guard_.leave();
  if (runs_here_) return on_returned(*this);
  become(&connection::on_returned);
  if (loop_.in_this_thread())
    on_returned(*this);
  else
    post_batch::post(loop_, *this);
}

void connection::on_returned(work_item& item) noexcept {
  connection& c = of(item);
  c.state_.baton_out = c.baton_.had_its_share = false;
  if (c.input_buffer_.equipped() && !c.baton_.has_input) {
    c.loop_.buffers().take_back(c.input_buffer_);
    // Where the handler keeps more itself, it is charged later.
    if (c.extras_ && c.extras_->input_charged > 0 && !c.baton_.has_changes) [[unlikely]] {
      c.state_.baton_out = true;  // so that fail() leaves the rest to finish_return()
      c.charge_input();
      c.state_.baton_out = false;
    }
  }
  if (c.is_calm_but_for_detours()) return c.send_output();
  c.finish_return();
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
  if (loop_.io().waits_in_send()) loop_.time_has_passed();
  if (connection_deadlines* const d = deadlines(); d && sent.bytes > 0) d->sent(loop_.now());
  if (sent.error != 0) fail(system_error_code(sent.error));
  return sent.bytes;
}

std::size_t connection::offer(bytes data) noexcept { return gone(loop_.io().send(*this, data)); }
std::size_t connection::offer(output_pieces pieces) noexcept { return gone(loop_.io().send(*this, pieces)); }

}  // namespace quintet
