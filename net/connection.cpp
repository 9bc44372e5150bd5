// SPDX-License-Identifier: BSL-1.0
// connection: the loop's side of the state machine: input, ends, and what comes next when the baton is at home.
#include <quintet/net/connection.hpp>

#include <quintet/net/executor.hpp>

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <utility>

namespace quintet {
namespace {

constexpr std::size_t read_ahead_limit = 64 * 1024;        // while the baton is out; then TCP pushes back
constexpr duration linger_time = std::chrono::seconds(1);  // for the peer to take our last bytes and close

/// Of the configuration, so that who wonders why connections end finds it in the log.
bool is_a_limit(const error_code& why) noexcept {
  return why && why.category() == quintet_category() && why != errc::end_of_stream && why != errc::stopped &&
         why != errc::handler_threw;
}

/// It does not read. What the kernel still holds for it would stay there for minutes after an orderly end, and the peer
/// would take what it has of a reply for all of it.
bool gives_up_on_the_peer(const error_code& why) noexcept {
  return why == errc::output_overflow || why == errc::output_full || why == errc::send_timeout;
}

}  // namespace

connection::connection(event_loop& loop, connection_host& host, bool keeps_baton)
    : work_item(&connection::process_open, &connection::prepare_to_travel),
      loop_(loop),
      host_(host),
      keeps_baton_(keeps_baton) {
  loop_.join(*this);
}

connection::~connection() {
  cancel();
  loop_.leave(*this);
  loop_.chunks().take_back(output_);
  loop_.chunks().take_back(sending_);
  drop_messages(messages_);
  drop_messages(calls_);
}

loop_executor connection::get_executor() const { return loop_.get_executor(); }
std::string connection::peer_address() const { return handle_ < 0 ? std::string() : loop_.io().peer_address(handle_); }

void connection::open(int handle, wishes told) noexcept {
  loop_.counters().opened.add();
  handle_ = handle;
  told_ = told;
  if (const error_code ec = loop_.io().add(*this, handle)) return fail(ec);
  if (loop_.stopping()) return fail(errc::stopped);
  bool draining = false;
  try {
    const auto added = host_.registry.add(*this, loop_);
    id_ = added.id;
    draining = added.draining;
  } catch (const std::exception&) {
    return out_of_memory();
  }
  begun_ = true;
  use_limits();
  if (failing_) return;
  if (std::exchange(told_.open, false)) send_out(&connection::process_open);
  watch_time();
  if (draining) drain();
}

void connection::on_received(bytes arrived) noexcept {
  loop_.counters().receives.add();
  loop_.counters().bytes_received.add(arrived.size());
  if (lingering_) return;
  if (drain_asked_) {
    if (drain_left_ == 0) return;  // it was sent after the draining began
    drain_left_ -= std::min(drain_left_, arrived.size());
  }
  if (deadlines_) deadlines_->received(arrived.size(), loop_.now());
  try {
    if (baton_out_ || holds_input()) {
      loop_.buffers().equip(ahead_);
      ahead_.append(arrived);
      if (ahead_.size() >= read_ahead_limit) set_reading(false);
      return;
    }
    if (close_wanted_) return;  // what is being sent is the last of it
    input_is_borrowed_ = input_buffer_.empty() && !keeps_baton_;
    if (input_is_borrowed_) {
      input_ = arrived;
    } else {
      loop_.buffers().equip(input_buffer_);
      input_buffer_.append(arrived);
      input_ = input_buffer_.data();
    }
  } catch (const std::exception&) {
    return out_of_memory();
  }
  deliver();
}

void connection::on_receive_end(error_code reason) noexcept {
  if (reason) return fail(reason);
  receive_ended_ = true;
  if (lingering_) return fail({});
  if (!baton_out_) settle();
}

void connection::on_sendable() noexcept {
  send_waiting();
  if (!failing_ && !baton_out_) settle();
}

void connection::abort() noexcept {
  fail(errc::stopped);
  if (baton_out_) interrupt();
}

// The baton is at home and nothing more can be sent now: what comes next?
void connection::settle() noexcept {
  close_wanted_ |= std::exchange(close_asked_, false);
  if (close_wanted_) {
    if (sending_.empty() && !lingering_) begin_to_linger();
    return;
  }
  sort_messages();
  if (failing_ || baton_out_) return;
  if (!calls_.empty()) return send_out(&connection::process_messages);
  if (shutdown_wanted_ && !shut_ && sending_.empty()) {
    shut_ = true;
    loop_.io().shutdown_send(handle_);
  }
  if (wants_writable_) [[unlikely]] {
    if (sending_.size() <= limits().low_watermark) wait_for_turn_end();
    return;
  }
  if (is_stuck()) return;
  if (!ahead_.empty() && !holds_input()) {
    input_ = take_input();
    return deliver();
  }
  update_reading();
  if (drain_asked_ && (drain_left_ == 0 || receive_ended_ || pause_wanted_)) return finish_drain();
  if (receive_ended_ && ahead_.empty()) settle_end();
}

// The peer has finished sending, and everything it sent has been seen.
void connection::settle_end() noexcept {
  if (keeps_baton_) return deliver();  // a coroutine is told of the end, and may still write
  if (std::exchange(told_.read_eof, false)) {
    stays_half_open_ = true;
    return send_out(&connection::process_read_eof);
  }
  if (sending_.empty() && (shut_ || !stays_half_open_)) fail(errc::end_of_stream);
}

// With the baton at home, or held by who asks.
void connection::update_reading() noexcept {
  set_reading(lingering_ || (holds_ == 0 && ahead_.size() < read_ahead_limit && !pause_wanted_));
}

void connection::set_reading(bool on) noexcept {
  if (reading_ == on || receive_ended_ || failing_) return;
  reading_ = on;
  loop_.io().set_reading(*this, on);
}

// Closing now would reset the connection if the peer has sent more, and a reset may destroy what it has not read yet.
void connection::begin_to_linger() noexcept {
  if (receive_ended_) return fail({});
  lingering_ = true;
  ahead_.clear();
  if (!shut_) loop_.io().shutdown_send(handle_);
  loop_.start(*this, linger_time);
  update_reading();
}

void connection::report_limit() const noexcept {
  try {
    report(host_.log, {severity::info, "a connection is closed", reason_, peer_address()});
  } catch (const std::bad_alloc&) {  // nothing is left to say it with
  }
}

void connection::out_of_memory() noexcept { fail(make_error_code(boost::system::errc::not_enough_memory)); }

void connection::fail(error_code why) noexcept {
  if (failing_) return;
  failing_ = true;
  reason_ = why;
  if (host_.log && is_a_limit(why)) report_limit();
  host_.registry.remove(id_);
  // Memory goes back together with what it was charged as, not when the object dies: that is at the end of the turn.
  loop_.chunks().take_back(sending_);
  (void)host_.output.changed(std::exchange(charged_, 0), 0);
  if (std::exchange(above_watermark_, false)) tell_source(false);
  loop_.io().remove(*this);
  cancel();
  if (!baton_out_) begin_to_close();
}

// The baton is at home, for the last time: nobody else can use the handle any more.
void connection::begin_to_close() noexcept {
  if (gives_up_on_the_peer(reason_)) loop_.io().reset_when_closed(handle_);
  loop_.chunks().take_back(output_);
  (void)host_.output.changed(std::exchange(output_charged_, 0), 0);
  loop_.io().close(std::exchange(handle_, -1));
  send_out(&connection::process_close);
}

}  // namespace quintet
