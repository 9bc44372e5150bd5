// SPDX-License-Identifier: BSL-1.0
// shm_engine: runs the turn: polls streams, and sockets when they are due.
#include "shm_engine.hpp"

#include "../epoll_engine.hpp"
#include "../kernel_sockets.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

namespace quintet {

std::unique_ptr<engine> make_shm_engine(std::unique_ptr<engine> inner) {
  return std::make_unique<shm::shm_engine>(std::move(inner));
}

namespace shm {
namespace {

// To poll a stream costs a few nanoseconds, to poll the sockets a system call. A served stream may cost microseconds,
// for its handler and for waking its peer. So sockets wait for at most this many turns without work, and
// with work for this time, this many streams and this many bytes, whichever is first.
constexpr unsigned turns_between_sockets = 8;
constexpr duration time_between_sockets = std::chrono::microseconds(16);
constexpr unsigned served_between_sockets = 64;
constexpr std::size_t bytes_between_sockets = 256 * 1024;
constexpr unsigned served_per_clock = 4;  // reading the clock costs some 25 ns
// A stream that a loop finds empty so often, for so long, goes to sleep, so that turns do not cost more with each idle
// stream. The time is longer than most peers need for their next request: waking a loop that spins would cost them
// more.
constexpr unsigned empty_polls_before_sleep = 64;
constexpr duration idle_before_sleep = std::chrono::microseconds(250);

}  // namespace

// ---- Turns ----------------------------------------------------------------------------------------------------------

bool shm_engine::poll(duration longest) { return has_chores_ ? poll_with_chores(longest) : inner().poll(longest); }

bool shm_engine::poll_with_chores(duration longest) {
  has_chores_ = port_count() > 0;
  destroy_removed();
  if (polled_.empty()) return wait(longest);
  wake_streams();
  const bool worked = poll_streams();
  if (next_ == 0) drop_idle();
  if (worked || (longest == duration::zero() && !polled_.empty()))
    return (sockets_are_due() && poll_sockets(duration::zero())) || worked;
  if (longest > duration::zero() && !sleep_streams()) longest = duration::zero();
  return wait(longest);
}

bool shm_engine::wait(duration longest) {
  bool worked = poll_sockets(longest);
  wake_streams();
  if (!polled_.empty()) worked = poll_streams() || worked;
  return worked;
}

bool shm_engine::poll_sockets(duration longest) {
  const bool worked = waiter().poll(longest);
  turns_ = served_ = 0;
  bytes_ = 0;
  sockets_polled_at_ = clock::system().now();
  return worked;
}

bool shm_engine::sockets_are_due() noexcept { return ++turns_ >= turns_between_sockets || has_done_much(); }

bool shm_engine::has_done_much() noexcept {
  if (served_ >= served_between_sockets || bytes_ >= bytes_between_sockets) return true;
  return served_ >= served_per_clock && clock::system().now() - sockets_polled_at_ >= time_between_sockets;
}

// Ends early when the sockets are due; the next call goes on behind the last stream. Streams that a handler adds
// meanwhile have their turn next time.
bool shm_engine::poll_streams() {
  bool worked = false;
  const std::size_t count = polled_.size();
  for (std::size_t i = std::exchange(next_, 0); i < count; ++i) {
    shm_stream* const p = polled_[i];
    if (!p) continue;
    const bool served = serve_events(*p);
    p->note_poll(served);
    if (!served) continue;
    worked = true;
    const bool asks = ++served_ % served_per_clock == 0 || bytes_ >= bytes_between_sockets;
    if (asks && i + 1 < count && has_done_much()) {
      next_ = i + 1;
      break;
    }
  }
  return worked;
}

// One callback of each kind at most, so that no stream starves the others.
bool shm_engine::serve_events(shm_stream& p) {
  bool worked = false;
  if (p.take_sendable()) {
    worked = true;
    p.served()->on_sendable();
    if (!p.served()) return true;
  }
  error_code reason;
  if (p.can_receive()) {
    receive(p);
  } else if (p.take_end(reason)) {
    p.served()->on_receive_end(reason);
  } else if (p.take_unread_end()) {
    p.served()->on_peer_finished();
  } else {
    return worked;
  }
  return true;
}

// The bytes are copied before the handler sees them: the peer could change them in the ring. Nothing is received if the
// peer has corrupted the ring since the engine polled it.
void shm_engine::receive(shm_stream& p) {
  stream_channel& c = *p.served();
  if (kind_of(c) == kind::in_place_stream) {
    const std::span<char> place = c.receive_space();
    if (!p.served()) return;
    if (!place.empty()) {
      const std::size_t count = p.receive(place);
      bytes_ += count;
      if (count > 0) c.on_received_in_place(count);
      return;
    }
    end_in_place(c);
  }
  const std::size_t count = p.receive({received_.get(), receive_limit()});
  bytes_ += count;
  if (count > 0) c.on_received({received_.get(), count});
}

// Drops removed streams from the list, and those that were found empty so often that they may as well send a wake-up.
void shm_engine::drop_idle() noexcept {
  std::size_t kept = 0;
  for (shm_stream* const p : polled_) {
    if (!p) continue;
    if (p->empty_polls() >= empty_polls_before_sleep && p->has_been_idle(idle_before_sleep)) {
      p->announce_sleep();
      std::atomic_thread_fence(std::memory_order_seq_cst);
      if (!p->has_work()) {
        p->listed_at = shm_stream::not_listed;
        continue;
      }
      p->stay_awake();
    }
    p->listed_at = kept;
    polled_[kept++] = p;
  }
  polled_.resize(kept);
}

// Returns false if a stream has work already.
bool shm_engine::sleep_streams() noexcept {
  streams_sleep_ = true;
  for (shm_stream* const p : polled_)
    if (p) p->announce_sleep();
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return std::ranges::none_of(polled_, [](shm_stream* p) { return p && p->has_work(); });
}

void shm_engine::wake_streams() noexcept {
  if (!std::exchange(streams_sleep_, false)) return;
  for (shm_stream* const p : polled_)
    if (p) p->stay_awake();
}

void shm_engine::start_polling(shm_stream& p) noexcept {
  if (p.listed_at != shm_stream::not_listed || !p.served()) return;
  p.listed_at = polled_.size();
  polled_.push_back(&p);  // add_port() has made room
}

int shm_engine::descriptor() noexcept {
  if (!sleep_streams()) wake();
  return waiter().embedding()->descriptor();
}

// ---- Channels -------------------------------------------------------------------------------------------------------

error_code shm_engine::add(channel& c, stream_handle&& handle) {
  if (is_stream(c) && carried_endpoint::of(handle)) return add_port(static_cast<stream_channel&>(c), std::move(handle));
  return add_to_inner(c, std::move(handle));
}

// All streams can be listed in one turn, beside removed ones: start_polling() needs no memory.
error_code shm_engine::add_port(stream_channel& c, stream_handle&& stream) try {
  const int socket = stream.get();
  if (socket < 0) return system_error_code(EBADF);
  reserve_for_port(socket);
  reserve_in(polled_);
  if (!received_) received_ = std::make_unique_for_overwrite<char[]>(receive_size);
  if (capabilities().single_stream && !substitute_) substitute_ = std::make_unique<epoll_engine>();
  auto made = std::make_unique<shm_stream>(*this, c, std::move(stream));
  use_substitute(true);
  if (const error_code failed = waiter().add(*made, socket)) {
    use_substitute(false);
    stream = made->release();
    return failed;
  }
  start_polling(*made);
  serve(c, socket, std::move(made));
  has_chores_ = true;
  return {};
} catch (const std::bad_alloc&) {
  return make_error_code(boost::system::errc::not_enough_memory);
} catch (const boost::system::system_error& failed) {
  return failed.code();
}

// A wake() before the switch went to the other engine, so this one is woken too.
void shm_engine::use_substitute(bool on) noexcept {
  if (!capabilities().single_stream) return;
  substitute_in_use_.store(on);
  waiter().wake();
}

stream_handle shm_engine::detach(shm_stream& p) noexcept {
  (void)waiter().remove(p);
  use_substitute(false);
  if (p.listed_at != shm_stream::not_listed) polled_[p.listed_at] = nullptr;
  return p.release();
}

// The peer reads what it was sent from its own mapping of the segment. The inner engine has sent nothing on this socket
// and does not watch it any more, so a socket that the endpoint keeps needs no close() of the inner engine.
void shm_engine::close(stream_handle&& handle) noexcept {
  if (carried_endpoint* const left = carried_endpoint::of(handle)) {
    const bool is_reset = kernel_sockets::resets_when_closed(handle.get());
    if (left->end.close(is_reset ? stream_end::reset : stream_end::finished, handle.get())) return;
  }
  inner().close(std::move(handle));
}

}  // namespace shm
}  // namespace quintet
