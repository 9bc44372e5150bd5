// SPDX-License-Identifier: BSL-1.0
// uring_engine: runs the turn; watches channels by requests.
#include "uring_engine.hpp"

#include "../passed_descriptors.hpp"
#include "../socket_services.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <new>
#include <utility>

namespace quintet {

std::unique_ptr<engine> make_uring_engine() { return std::make_unique<uring::uring_engine>(); }

namespace uring {
namespace {

constexpr int most_flushes = 1000;
constexpr std::uint32_t accepting = 1;  // a channel's interest, for accept_ready()
constexpr unsigned wakes_one = POLLIN | EPOLLEXCLUSIVE;
constexpr __kernel_timespec close_timeout{.tv_sec = closing_stream::patience.count(), .tv_nsec = 0};

}  // namespace

// prepare() or the first poll() makes the ring: when a ring is destroyed, the kernel interrupts the thread that made
// it, which should be the loop's. The eventfd is blocking: the ring's read of a non-blocking one would not wait.
uring_engine::uring_engine()
    : socket_engine({.name = "uring", .needs_prepare = true, .shared_accept = true, .exclusive_accept = true}),
      wake_(0) {
  silent_.reserve(send_slots::count);
  completing_.reserve(send_slots::count);
}

uring_engine::~uring_engine() {
  ring_.reset();
  later_.clear();
  starved_.clear();
  for (const watched& w : all_)
    if (w.closes) engine::close(w.handle);
  all_.clear_and_dispose([](watched* w) { delete w; });
}

bool uring_engine::poll(duration longest) {
  // Nothing to poll, perhaps since the loop has ended. Another thread than the loop's may call this, so make no ring.
  if (longest == duration::zero() && all_.empty()) return false;
  try {
    prepare();
  } catch (...) {  // a stopped loop closes its members without a ring
    if (longest == duration::zero()) return false;
    throw;
  }
  begin_turn();
  if (silence_is_awaited_) longest = duration::zero();
  if (!ring_->enter(longest)) {
    move_here();
    (void)ring_->enter(duration::zero());
  }
  bool dispatched = complete_silent_sends();
  for (unsigned left = ring_->ready(); left > 0; --left) dispatched |= completed(ring_->take());
  restart_starved();
  return dispatched;
}

void uring_engine::prepare() {
  if (ring_) return;
  auto fresh = std::make_unique<io_ring>();
  buffers_.attach(*fresh, receive_limit());
  ring_ = std::move(fresh);
}

void uring_engine::begin_turn() noexcept {
  prepare_all_deferred();
  listen_for_wakes();
}

void uring_engine::listen_for_wakes() noexcept {
  if (listens_for_wakes_) return;
  io_uring_sqe* const s = ring_->next();
  if (!s) return;
  io_uring_prep_read(s, wake_.descriptor().get(), &wakes_, sizeof wakes_, 0);
  s->user_data = tag_of_none(request::wake);
  listens_for_wakes_ = true;
}

void uring_engine::wake() noexcept { wake_.raise(); }

// The old ring's requests end with its thread, or with the ring; start them again on a new ring. An interrupted send
// may have been partial, and its length is unknown.
void uring_engine::move_here() {
  while (ring_->ready() > 0) (void)completed(ring_->take());
  auto fresh = std::make_unique<io_ring>();
  for (watched& w : all_)
    if (w.unsent && !ring_->is_unsubmitted(w.number)) w.unsent = nullptr;
  ring_ = std::move(fresh);
  buffers_.attach(*ring_, receive_limit());
  listens_for_wakes_ = false;
  starved_.clear();
  later_.clear();
  silent_.clear();
  for (auto at = all_.begin(); at != all_.end();) {
    watched& w = *at++;  // resume_or_forget() may delete it
    const bool sends = w.has(request::send);
    const bool is_deferred = w.deferred & watched::bit(request::send);
    const bool is_unsubmitted = std::exchange(w.unsent, nullptr) != nullptr || is_deferred;
    w.in_flight = w.cancelled = w.deferred = w.deferred_cancel = 0;
    const bool silent = std::exchange(w.silent, false);
    if (sends && is_unsubmitted) {
      start(w, request::send);
    } else if (sends && silent) {
      release_slot(w);
      after_send(w);
    } else if (sends) {
      release_slot(w);
      if (w.target) start(w, request::lost);
    }
    resume_or_forget(w);
  }
  begin_turn();
}

void uring_engine::flush(flush_extent how) noexcept {
  if (how == flush_extent::closing) return finish_closing();
  if (ring_) ring_->submit();
}

void uring_engine::finish_closing() noexcept {
  const time_point end = clock::system().now() + closing_stream::at_end;
  for (int i = 0; closing_ > 0 && ring_ && i < most_flushes; ++i) {
    const duration left = end - clock::system().now();
    if (left <= duration::zero())
      for (watched& w : all_)
        if (w.closes && !std::exchange(w.drops, true)) cancel(w, request::send);
    (void)poll(std::max(left, duration::zero()));
  }
}

error_code uring_engine::add(channel& c, stream_handle&& stream) try {
  if (const error_code refused = check_watchable(c, stream)) return refused;
  const int handle = stream.get();
  if (watched* const before = find(handle)) {
    if (before->target) return system_error_code(EEXIST);
    if (before->has(request::send) && !before->closes) {
      watch_again(c, *before);
      return {};
    }
  }
  by_handle_.reserve_for(handle);
  auto* const w = new watched;
  all_.push_back(*w);
  w->target = &c;
  w->handle = handle;
  w->reading = true;
  w->blocked = kind_of(c) == kind::connect;
  w->limited = kind_of(c) == kind::accept && static_cast<accept_channel&>(c).is_limited();
  interest(c) = accepting;
  w->guarded = is_stream(c) && passed_descriptors::must_guard(stream);
  by_handle_.set(handle, w);  // only completions refer to a previous, removed entry
  bind(c, handle);
  start_needed_requests(*w);
  return {};
} catch (const std::bad_alloc&) {
  return system_error_code(ENOMEM);
}

// Its bytes are still in flight, and what is sent from now on must not overtake them.
void uring_engine::watch_again(channel& c, watched& w) noexcept {
  w.target = &c;
  w.reading = true;
  w.ended = w.blocked = false;
  interest(c) = accepting;
  bind(c, w.handle);
  if (!w.busy) start_needed_requests(w);
}

watched* uring_engine::find(int handle) const noexcept { return by_handle_.find(handle); }

stream_handle uring_engine::remove(channel& c) noexcept {
  if (c.handle() < 0) return {};
  watched& w = *find(c.handle());
  w.target = nullptr;
  stream_handle removed = unbind(c);
  for (const request r : {request::receive, request::hangup, request::writable, request::accept, request::event})
    cancel(w, r);
  resume_or_forget(w);
  return removed;
}

void uring_engine::close(stream_handle&& handle) noexcept {
  watched* const w = find(handle.get());
  if (!w || w->closes) return engine::close(std::move(handle));
  w->closes = true;
  w->drops = w->has(request::send) && kernel_sockets::resets_when_closed(handle.get());
  ++closing_;
  await_silent(*w);
  if (w->has(request::send) && !w->silent) wait_for_room(*w);
  resume_or_forget(*w);
}

error_code uring_engine::set_reading(channel& c, bool on) noexcept {
  watched* const w = find(c.handle());
  if (!w || w->reading == on) return {};
  w->reading = on;
  interest(c) = on ? accepting : 0;
  if (!on)
    for (const request r : {request::receive, request::accept}) cancel(*w, r);
  if (!w->busy) start_needed_requests(*w);
  return {};
}

// Starts a request that is not in progress. A cancelled request can start again only after its completion.
void uring_engine::start(watched& w, request r) noexcept {
  w.in_flight |= watched::bit(r);
  if (prepare(w, r, false)) return;
  w.deferred |= watched::bit(r);
  defer(w);
}

void uring_engine::cancel(watched& w, request r) noexcept {
  if (!w.has(r) || (w.cancelled & watched::bit(r))) return;
  const bool is_deferred = w.deferred & watched::bit(r);
  if (is_deferred && r != request::send) {  // never submitted, so no completion will come
    w.deferred &= static_cast<std::uint16_t>(~watched::bit(r));
    w.in_flight &= static_cast<std::uint16_t>(~watched::bit(r));
    return;
  }
  w.cancelled |= watched::bit(r);
  // Never submit a cancellation before its request: the kernel would not find the request.
  if (!is_deferred && prepare(w, r, true)) return;
  w.deferred_cancel |= watched::bit(r);
  defer(w);
}

void uring_engine::defer(watched& w) noexcept {
  if (!w.later.is_linked()) later_.push_back(w);
}

// Prepares postponed requests as far as the ring has room.
void uring_engine::prepare_all_deferred() noexcept {
  while (!later_.empty() && prepare_deferred(later_.front())) later_.pop_front();
}

bool uring_engine::prepare_deferred(watched& w) noexcept {
  const auto prepare_each = [&](std::uint16_t& bits, bool cancels_it) {
    while (bits != 0) {
      const auto r = static_cast<request>(std::countr_zero(bits));
      if (!prepare(w, r, cancels_it)) return false;
      bits &= static_cast<std::uint16_t>(~watched::bit(r));
    }
    return true;
  };
  return prepare_each(w.deferred, false) && prepare_each(w.deferred_cancel, true);
}

void uring_engine::prepare_accept(io_uring_sqe& s, const watched& w) noexcept {
  if (!w.limited) return io_uring_prep_multishot_accept(&s, w.handle, nullptr, nullptr, SOCK_CLOEXEC);
  const bool is_shared = static_cast<const accept_channel&>(*w.target).is_shared();
  io_uring_prep_poll_add(&s, w.handle, is_shared ? wakes_one : POLLIN);
}

bool uring_engine::prepare(watched& w, request r, bool cancels_it) noexcept {
  io_uring_sqe* const s = ring_ ? ring_->next() : nullptr;
  if (!s) return false;
  if (cancels_it) {
    io_uring_prep_cancel64(s, w.tag(r), 0);
    s->flags |= IOSQE_CQE_SKIP_SUCCESS;
    s->user_data = tag_of_none(request::unwatched);
    return true;
  }
  switch (r) {
    case request::receive:
      if (w.guarded)
        io_uring_prep_poll_add(s, w.handle, POLLIN);
      else
        receive_buffers::receive(*s, w.handle, w.is_empty);
      break;
    case request::send:
      prepare_send(*s, w);
      break;
    case request::hangup:
      io_uring_prep_poll_multishot(s, w.handle, w.ended ? 0 : POLLRDHUP);  // always reports POLLHUP and POLLERR
      break;
    case request::writable:
      io_uring_prep_poll_add(s, w.handle, POLLOUT);
      break;
    case request::accept:
      prepare_accept(*s, w);
      break;
    case request::event:
      io_uring_prep_poll_add(s, w.handle, POLLIN);
      break;
    case request::close_timeout:
      io_uring_prep_timeout(s, const_cast<__kernel_timespec*>(&close_timeout), 0, 0);  // only read
      break;
    default:
      io_uring_prep_nop(s);
  }
  s->user_data = w.tag(r);
  return true;
}

// Called after each event of `w`: starts the requests that it needs now, or deletes it if it is finished.
void uring_engine::resume_or_forget(watched& w) noexcept {
  if (w.busy) return;
  if (w.target)
    start_needed_requests(w);
  else if (w.in_flight == 0)
    forget(w);
}

void uring_engine::start_needed_requests(watched& w) noexcept {
  const auto begin = [&](request r) {
    if (!w.has(r)) start(w, r);
  };
  const kind k = kind_of(*w.target);
  if (is_stream(*w.target) && !(w.wants_input() && w.has(request::receive_retry))) begin(w.wanted_request());
  if (k == kind::accept && w.reading) begin(w.accepted.empty() ? request::accept : request::held);
  if (k == kind::event && !w.ended) begin(request::event);
  if (w.blocked && !w.has(request::send)) begin(request::writable);
}

// Deletes a removed entry after its last completion, and closes its handles.
void uring_engine::forget(watched& w) noexcept {
  if (find(w.handle) == &w) (void)by_handle_.take(w.handle);
  for (const int handle : w.accepted) {
    sockets().reset_when_closed(handle);
    engine::close(handle);
  }
  if (w.closes) {
    --closing_;
    engine::close(w.handle);
  }
  if (w.later.is_linked()) later_.erase(later_.iterator_to(w));
  all_.erase_and_dispose(all_.iterator_to(w), [](watched* gone) { delete gone; });
}

}  // namespace uring
}  // namespace quintet
