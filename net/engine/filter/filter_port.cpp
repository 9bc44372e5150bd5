// SPDX-License-Identifier: BSL-1.0
// filter_port: receives and sends records, delivers and accepts plain bytes.
#include "filter_port.hpp"

#include "filtering_engine.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <span>

namespace quintet {
namespace {

// A closed stream on an engine whose send() may wait: how long one call waits.
constexpr duration longest_closing_send = std::chrono::milliseconds(100);
// Pieces that are at least so long are not copied to be merged with others.
constexpr std::size_t is_long = 4 * 1024;

}  // namespace

error_code filter_port::start() noexcept {
  stream_handle records(stream_.get(), state().take_below());
  const error_code failed = owner_.watch(*this, std::move(records));
  if (failed) state().set_below(records.take_carried());  // NOLINT(bugprone-use-after-move): a failure has left it
  return failed;
}

stream_handle filter_port::release() noexcept {
  served_ = nullptr;
  if (handle() >= 0) state().set_below(owner_.inner().remove(*this).take_carried());
  return std::move(stream_);
}

// ---- Receiving ------------------------------------------------------------------------------------------------------

void filter_port::on_received(bytes arrived) {
  if (!served_) return;
  if (reading_) return deliver(arrived);
  state().keep(arrived);
}

// The served stream may stop reading, or be removed with its state, in each callback. So all that is left is in the
// state before.
void filter_port::deliver(bytes fresh) {
  const std::span<char> place = owner_.place_for_plain();
  bool has_any = false;
  do {
    const bytes plain = state().decrypt(std::exchange(fresh, {}), place);
    if (plain.empty()) break;
    has_any = true;
    served_->on_received(plain);
    if (!served_) return;
  } while (reading_ && state().may_have_plain());
  if (!has_any) served_->on_received_nothing();
  if (!served_) return;
  if (reading_) report_end();
}

void filter_port::report_end() {
  const std::optional<error_code> end = state().ended();
  if (!end) return;
  end_reported_ = true;
  reading_ = false;
  if (!inner_ended_) (void)owner_.inner().set_reading(*this, false);
  served_->on_receive_end(*end);
}

// As for a socket: a stream that is not read learns that it broke, and of an end only if no bytes wait.
void filter_port::on_receive_end(error_code reason) {
  inner_ended_ = true;
  if (is_closing()) return reason ? owner_.end_closing(*this) : void();
  if (end_reported_) return reason ? served_->on_receive_end(reason) : void();
  state().end_records(reason);
  if (reading_) return deliver({});
  if (!state().has_plain(owner_.place_for_plain().size())) {
    end_reported_ = true;
    return served_->on_receive_end(reason ? reason : *state().ended());
  }
  if (reason) served_->on_send_failed(reason);
}

error_code filter_port::set_reading(bool on) noexcept {
  if (end_reported_) return {};
  if (!inner_ended_)
    if (const error_code failed = owner_.inner().set_reading(*this, on)) return failed;
  reading_ = on;
  if (on && (state().may_have_plain() || state().ended())) owner_.make_due(*this);
  return {};
}

arrival filter_port::arrived() noexcept { return {.mark = state().received() + owner_.inner().arrived(*this).mark}; }

// A record is delivered once it has come whole.
bool filter_port::has_more(const arrival& by) noexcept {
  if (!state().ended() && state().received() < by.mark) return true;
  return state().has_plain(owner_.place_for_plain().size());
}

void filter_port::serve() noexcept {
  if (!state().waiting().empty()) on_sendable();
  if (served_ && reading_) deliver({});
}

// ---- Sending --------------------------------------------------------------------------------------------------------

// Makes records only while the inner engine takes them all: at most one batch of them waits.
engine::send_result filter_port::send(bytes data) noexcept {
  carried_filter& s = state();
  std::size_t accepted = 0;
  int error = s.is_broken() || s.is_finished() ? EPIPE : 0;
  while (error == 0 && accepted < data.size() && s.waiting().empty()) {
    const std::span<char> place = owner_.place_for_records();
    const filter::result made = s.encrypt(data.substr(accepted), place);
    accepted += made.consumed;
    error = made.failed ? EPROTO : send_records({place.data(), made.produced});
  }
  promised_ = promised_ || (error == 0 && accepted < data.size());
  return {accepted, error};
}

// Short pieces become one record.
engine::send_result filter_port::send(output_pieces pieces) noexcept {
  const std::span<char> place = owner_.place_to_merge();
  engine::send_result all{0};
  while (!pieces.empty()) {
    const auto data_of = [](const iovec& piece) {
      return bytes(static_cast<const char*>(piece.iov_base), piece.iov_len);
    };
    bytes next = data_of(pieces.front());
    if (next.size() < is_long && pieces.size() > 1) {
      std::size_t merged = 0;
      for (const iovec& piece : pieces) merged += data_of(piece).copy(place.data() + merged, place.size() - merged);
      next = {place.data(), merged};
    }
    const engine::send_result sent = send(next);
    all = {all.bytes + sent.bytes, sent.error};
    if (sent.error != 0 || sent.bytes < next.size()) break;
    remove_prefix(pieces, next.size());
  }
  return all;
}

int filter_port::send_records(bytes records) noexcept {
  const engine::send_result sent = owner_.inner().send(*this, records);
  if (sent.error == 0 && sent.bytes == records.size()) [[likely]]
    return 0;
  if (sent.error == 0 && state().wait(records.substr(sent.bytes))) return 0;
  state().break_sending();
  return sent.error != 0 ? sent.error : ENOMEM;
}

int filter_port::send_waiting() noexcept {
  carried_filter& s = state();
  if (!s.waiting().empty()) {
    const engine::send_result sent = owner_.inner().send(*this, s.waiting());
    s.note_sent(sent.bytes);
    if (sent.error != 0) {
      s.break_sending();
      return sent.error;
    }
  }
  if (s.waiting().empty() && std::exchange(s.must_shut_down, false)) owner_.inner().shutdown_send(*this);
  return 0;
}

void filter_port::on_sendable() {
  if (const int error = send_waiting()) return on_send_failed(system_error_code(error));
  if (!state().waiting().empty()) return;
  if (is_closing()) return owner_.end_closing(*this);
  if (std::exchange(promised_, false)) served_->on_sendable();
}

void filter_port::on_send_failed(error_code reason) {
  state().break_sending();
  if (is_closing()) return owner_.end_closing(*this);
  served_->on_send_failed(reason);
}

// An error is one of a peer that is gone, which receiving reports.
void filter_port::shutdown_send() noexcept {
  const bool is_waiting = !state().waiting().empty();
  state().must_shut_down = true;
  (void)state().finish();
  if (!is_waiting) (void)send_waiting();
}

std::size_t filter_port::unsent() noexcept { return state().waiting().size() + owner_.inner().unsent(*this); }

duration filter_port::longest_send() const noexcept {
  if (served_) return served_->longest_send();
  return deadline_ == time_point::max() ? duration::zero() : longest_closing_send;
}

// ---- After close() --------------------------------------------------------------------------------------------------

bool filter_port::begin_closing() noexcept {
  (void)owner_.inner().set_reading(*this, false);
  if (!state().finish() || send_waiting() != 0 || state().waiting().empty()) return false;
  wait_for_room();
  return true;
}

bool filter_port::gives_up() noexcept {
  if (closing_.gives_up(unsent(), owner_.sockets(), handle())) return true;
  wait_for_room();
  return false;
}

void filter_port::wait_for_room() noexcept {
  closing_.wait(unsent());
  deadline_ = clock::system().now() + closing_stream::patience;
}

}  // namespace quintet
