// SPDX-License-Identifier: BSL-1.0
// connection_context: makes extras when they are needed, and starts the timer.
#include "connection_context.hpp"

#include "../engine/socket_services.hpp"
#include "connection_extras.hpp"

#include <new>
#include <utility>

namespace quintet::detail {

connection_context::connection_context(event_loop& loop, connection_host& host, handoff_constants constants) noexcept
    : constants_(constants), loop_(loop), host_(host) {}
connection_context::~connection_context() = default;

std::string connection_context::peer() const {
  if (handle_ >= 0 && !has_told_ends_) return loop_.io().sockets().peer_address(handle_);
  return kept_ends() ? kept_ends()->peer.to_string() : std::string();
}

std::string connection_context::local() const {
  if (handle_ >= 0 && !has_told_ends_) return loop_.io().sockets().local_address(handle_).to_string();
  return kept_ends() ? kept_ends()->local.to_string() : std::string();
}

const connection_ends* connection_context::kept_ends() const noexcept {
  return baton_extras_ ? baton_extras_->ends.get() : nullptr;
}

const tls_info* connection_context::tls() const noexcept { return baton_extras_ ? baton_extras_->tls.get() : nullptr; }

bool connection_context::keep_facts_of(const stream_handle& stream) noexcept {
  is_ip_ = stream.facts().is_ip;
  if (!stream.carried() && !stream.facts().told) return true;
  if (!make_baton_extras()) return false;
  baton_extras_->ends = stream.facts().told;
  if (stream.carried()) baton_extras_->tls = stream.carried()->tls();
  has_told_ends_ = baton_extras_->ends != nullptr;
  return true;
}

void connection_context::keep_carried(stream_handle&& removed) noexcept {
  if (removed.carried()) baton_extras_->carried = removed.take_carried();
}

stream_handle connection_context::take_stream() noexcept {
  stream_handle stream(std::exchange(handle_, -1), baton_extras_ ? std::move(baton_extras_->carried) : nullptr);
  stream.facts().is_ip = is_ip_;
  return stream;
}

void connection_context::keep_ends() noexcept try {
  if (has_told_ends_ || !make_baton_extras()) return;
  baton_extras_->ends = std::make_shared<const connection_ends>(loop_.io().sockets().ends(handle_));
} catch (const std::bad_alloc&) {  // the addresses become empty
}

connection_deadlines* connection_context::deadlines_of_extras() const noexcept {
  if (extras_->deadlines) extras_->deadlines->was_active(active_at_);
  return extras_->deadlines.get();
}

bool connection_context::make_extras() noexcept {
  if (!extras_) extras_.reset(new (std::nothrow) connection_loop_extras(*this));
  return extras_ != nullptr;
}

bool connection_context::make_deadlines() noexcept {
  if (!make_extras()) return false;
  if (!extras_->deadlines)
    extras_->deadlines.reset(
        new (std::nothrow) connection_deadlines(loop_.now(), loop_flags_.output.is_queued, !silence_.is_unbroken()));
  return extras_->deadlines != nullptr;
}

bool connection_context::make_baton_extras() noexcept {
  if (!baton_extras_) baton_extras_.reset(new (std::nothrow) connection_baton_extras);
  return baton_extras_ != nullptr;
}

connection_baton_extras& connection_context::extras_of_baton() {
  if (!baton_extras_) baton_extras_ = std::make_unique<connection_baton_extras>();
  return *baton_extras_;
}

void connection_context::watch_time() noexcept {
  const connection_deadlines* const d = deadlines();
  if (!d || has_ended() || is_lingering()) return;
  const time_point due = d->next_sample(applied_limits(), !baton_is_out());
  if (due == time_point::max() || (extras_->pending() && extras_->deadline() <= due)) return;
  loop_.start(*extras_, between(loop_.now(), due));
}

// A drain does not wait for a paused handler, which may never resume. A throttle ends by itself.
bool connection_context::has_drained() const noexcept {
  if (baton_flags_.input.paused) return true;
  return (!loop_flags_.input.has_more_to_drain || loop_flags_.input.peer_ended) && !has_unseen_input();
}

}  // namespace quintet::detail
