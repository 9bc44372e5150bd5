// SPDX-License-Identifier: BSL-1.0
// connection_baton: the handoff steps: what happens to the baton on its way out, at the handler's, and when it returns.
#include "connection.hpp"

#include "../watch/stall_watchdog.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <utility>

namespace quintet {

// The peer's time to send stands still until the baton is back.
[[gnu::noinline]] void connection::stand_still() noexcept {
  if (connection_deadlines* const d = deadlines()) d->hold(true, loop_.now());
}

// Whether write() may append within the chunk there is without asking.
void connection::gauge_writes() noexcept {
  const connection_limits& l = applied_limits();
  const std::size_t gate = std::min(l.high_watermark, l.max_output);
  baton_.checks_writes =
      baton_.shutdown_wanted || !output_.is_one_piece() || gate < byte_chain::chunk_size + sending_.size();
}

void connection::report_exception() const noexcept {
  if (!host_.log) return;
  try {
    const std::string peer = this->peer();
    try {
      throw;
    } catch (const std::exception& e) {
      report(host_.log,
             {severity::warning, std::string("a handler has thrown: ") + e.what(), errc::handler_threw, peer});
    } catch (...) {
      report(host_.log, {severity::warning, "a handler has thrown something", errc::handler_threw, peer});
    }
  } catch (const std::bad_alloc&) {  // nothing is left to say it with
  }
}

activity::scope connection::calling(callback what, const std::type_info* type) const noexcept {
  if (is_watched_) host_.watchdog->watch_this_thread();
  return activity::scope(what, &id_, type ? type : &handler_type());
}

// What it calls has ended when the baton is returned, and with it perhaps the connection.
void connection::call_guarded(callback what, void (connection::*run)()) noexcept {
  guarded([&] {
    const activity::scope now = calling(what);
    (this->*run)();
  });
}

void connection::process_open(work_item& item) noexcept {
  connection& c = with_baton(item);
  if (c.keeps_baton_) return c.run_open();
  c.call_guarded(callback::on_open, &connection::run_open);
  c.give_back();
}

void connection::process_messages(work_item& item) noexcept {
  connection& c = with_baton(item);
  c.baton_.has_calls = false;
  std::size_t done = 0;
  while (work_item* next = c.baton_extras_->calls.pop()) {
    const std::unique_ptr<connection_message> message(static_cast<connection_message*>(next));
    c.guarded([&] {
      const activity::scope now = c.calling(callback::message);
      message->run(c);
    });
    done += message->cost_;
  }
  c.host_.registry.release(c.id_, done);
  c.got_on_ = false;  // they are others' words
  c.give_back();
}

void connection::process_writable(work_item& item) noexcept {
  connection& c = with_baton(item);
  if (!c.runs_here_) c.loop_.turn_begins();
  if (c.keeps_baton_) return c.run_writable();
  c.call_guarded(callback::on_writable, &connection::run_writable);
  c.give_back();
}

void connection::process_read_eof(work_item& item) noexcept {
  connection& c = with_baton(item);
  c.call_guarded(callback::on_read_eof, &connection::run_read_eof);
  c.give_back();
}

void connection::process_drain(work_item& item) noexcept {
  connection& c = with_baton(item);
  c.call_guarded(callback::on_drain, &connection::run_drain);
  c.give_back();
}

void connection::process_close(work_item& item) noexcept {
  connection& c = with_baton(item);
  if (c.begun_) {
    const activity::scope now = c.calling(callback::on_close);
    c.run_close(c.reason());
  }
  if (!c.begun_ || !c.keeps_baton_) c.close_is_done();
}

void connection::close_is_done() noexcept {
  guard_.leave();
  become(&connection::destroy_deferred);
  if (loop_.in_this_thread())
    loop_.defer(*this);
  else
    loop_.post(static_cast<work_item&>(*this));
}

// Behind what is deferred for this connection: when it comes from the inbox, that has not run yet.
void connection::destroy_deferred(work_item& item) noexcept {
  connection& c = of(item);
  if (c.extras_ && c.extras_->end.due) return c.loop_.defer(item);
  c.tell_all_notices();
  if (c.baton_extras_) c.host_.output.released(std::exchange(c.baton_extras_->charged, 0));  // in on_close
  if (c.baton_.handler_failed) c.loop_.counters().handler_errors.add();                      // in on_close
  c.loop_.counters().closed.add();
  c.destroy();
}

// The way back, of all but what nothing has disturbed.
void connection::finish_return() noexcept {
  if (state_.writes_on) loop_.turn_comes_home();
  state_.baton_out = state_.writes_on = baton_.had_its_share = false;
  baton_.drain_begun = state_.drain_asked;
  const bool threw = baton_.handler_failed && !lost_batch_;
  baton_.handler_failed = false;
  if (threw) loop_.counters().handler_errors.add();
  if (state_.failing) return begin_to_close();
  if (lost_batch_) return out_of_memory();
  if (threw) return fail(errc::handler_threw);
  if (baton_.overflowed) return fail(errc::output_overflow);
  state_.mid_message = false;
  const bool may_keep_more = baton_.has_changes;
  end_of_batch();
  if (state_.failing) return;
  if (may_keep_more) charge_input();  // settle() may hand over the next batch at once
  if (state_.failing) return;
  if (input_buffer_.size() > applied_limits().max_input) return fail(errc::message_too_big);
  settle();
}

void connection::end_of_batch() noexcept {
  if (baton_.has_changes) adopt_settings();
  if (state_.failing) return;  // on_close may be at work on another thread
  if (baton_.has_dropped) loop_.counters().dropped.add(std::exchange(baton_extras_->dropped, 0));
  baton_.has_dropped = false;
  if (connection_deadlines* const d = deadlines())
    d->batch_ended({.got_on = got_on_,
                    .incomplete = incomplete_,
                    .begun_anew = begun_anew_,
                    .unused = input_buffer_.size() + ahead_.size()},
                   loop_.now());
  got_on_ = incomplete_ = begun_anew_ = false;
  send_output();
}

bytes connection::take_input() {
  if (state_.has_ahead) {
    state_.has_ahead = false;
    if (input_buffer_.empty()) {
      input_buffer_.swap(ahead_);
    } else {
      keep(ahead_.data());
      ahead_.clear();
    }
    loop_.buffers().take_back(ahead_);
    update_reading();
  }
  baton_.has_input = !input_buffer_.empty();
  return input_buffer_.data();
}

}  // namespace quintet
