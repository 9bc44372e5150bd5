// SPDX-License-Identifier: BSL-1.0
// connection_baton: the baton's stations: what happens to it on its way out, at the handler's, and on its way home.
#include <quintet/net/connection.hpp>

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <utility>

namespace quintet {

void connection::send_out(work_item::function station) noexcept {
  baton_out_ = true;
  waiting_ = sending_.size();
  become(station);
  dispatch(*this);
}

// On the loop, before the item goes to another thread: borrowed input becomes the connection's own, and the output
// buffer is taken while the loop's cache may be touched.
void connection::prepare_to_travel(work_item& item) noexcept {
  connection& c = of(item);
  c.own_input();
  c.loop_.chunks().equip(c.output_);
}

void connection::own_input() {
  if (!input_is_borrowed_) return;
  loop_.buffers().equip(input_buffer_);
  input_buffer_.append(input_);
  input_ = input_buffer_.data();
  input_is_borrowed_ = false;
}

template <class F>
void connection::guarded(F f) noexcept {
  try {
    f();
  } catch (...) {
    report_exception();
    fail_handler();
  }
}

void connection::report_exception() const noexcept {
  if (!host_.log) return;
  try {
    const std::string peer = peer_address();
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

void connection::process_open(work_item& item) noexcept {
  connection& c = of(item);
  if (c.keeps_baton_) return c.run_open();
  c.guarded([&c] { c.run_open(); });
  c.give_back();
}

void connection::process_batch(work_item& item) noexcept {
  connection& c = of(item);
  if (c.keeps_baton_) return static_cast<void>(c.run_batch({}));
  c.guarded([&c] { c.use_input(c.run_batch(c.input_)); });
  c.input_is_borrowed_ = false;
  c.give_back();
}

void connection::use_input(std::size_t count) {
  count = std::min(count, input_.size());
  got_on_ = count > 0;
  if (!input_is_borrowed_) {
    input_buffer_.consume(count);
  } else if (count < input_.size()) {
    loop_.buffers().equip(input_buffer_);  // borrowed input has not travelled
    input_buffer_.append(input_.substr(count));
  }
}

void connection::process_messages(work_item& item) noexcept {
  connection& c = of(item);
  while (work_item* next = c.calls_.pop()) {
    const std::unique_ptr<connection_message> message(static_cast<connection_message*>(next));
    c.guarded([&] { message->run(c); });
  }
  c.give_back();
}

void connection::process_writable(work_item& item) noexcept {
  connection& c = of(item);
  if (c.keeps_baton_) return c.run_writable();
  c.guarded([&c] { c.run_writable(); });
  c.give_back();
}

void connection::process_read_eof(work_item& item) noexcept {
  connection& c = of(item);
  c.guarded([&c] { c.run_read_eof(); });
  c.give_back();
}

void connection::process_drain(work_item& item) noexcept {
  connection& c = of(item);
  c.guarded([&c] { c.run_drain(); });
  c.give_back();
}

void connection::process_close(work_item& item) noexcept {
  connection& c = of(item);
  if (c.begun_) c.run_close(c.reason_);
  if (!c.begun_ || !c.keeps_baton_) c.close_is_done();
}

void connection::close_is_done() noexcept {
  become(&connection::bury);
  if (loop_.in_this_thread())
    loop_.defer(*this);
  else
    loop_.post(static_cast<work_item&>(*this));
}

// Deferred even when it comes from the inbox: an event for this connection may be in the batch at hand.
void connection::bury(work_item& item) noexcept {
  connection& c = of(item);
  if (c.handler_failed_) c.loop_.counters().handler_errors.add();  // in on_close
  c.loop_.counters().closed.add();
  c.destroy();
}

void connection::give_back() noexcept {
  become(&connection::come_home);
  if (loop_.in_this_thread())
    come_home(*this);
  else
    loop_.post(static_cast<work_item&>(*this));
}

void connection::come_home(work_item& item) noexcept {
  connection& c = of(item);
  c.baton_out_ = false;
  c.mid_message_ = false;
  c.drain_begun_ = c.drain_asked_;
  const bool threw = std::exchange(c.handler_failed_, false);
  if (threw) c.loop_.counters().handler_errors.add();
  if (c.failing_) return c.begin_to_close();
  if (threw) return c.fail(errc::handler_threw);
  if (c.overflowed_) return c.fail(errc::output_overflow);
  c.end_of_batch();
  if (c.failing_) return;
  if (c.input_buffer_.size() > c.limits().max_input) return c.fail(errc::message_too_big);
  c.settle();
  c.watch_time();
}

void connection::end_of_batch() noexcept {
  if (changed_) adopt_settings();
  if (dropped_ > 0) loop_.counters().dropped.add(std::exchange(dropped_, 0));
  if (deadlines_) {
    got_on_ |= keeps_baton_ && !output_.empty();
    const std::size_t unused = keeps_baton_ ? !got_on_ : input_buffer_.size();  // a coroutine keeps it to itself
    deadlines_->batch_ended(std::exchange(got_on_, false), unused, loop_.now());
  }
  if (input_buffer_.empty()) loop_.buffers().take_back(input_buffer_);
  send_output();
}

void connection::deliver() noexcept {
  loop_.counters().batches.add();
  send_out(&connection::process_batch);
}

bytes connection::take_input() {
  if (!ahead_.empty()) {
    if (input_buffer_.empty()) {
      input_buffer_.swap(ahead_);
    } else {
      input_buffer_.append(ahead_.data());
      ahead_.clear();
    }
    loop_.buffers().take_back(ahead_);
    update_reading();
  }
  return input_buffer_.data();
}

}  // namespace quintet
