// SPDX-License-Identifier: BSL-1.0
// engine: turns over sockets and ports.
#include "engine.hpp"

#include "../epoll_engine.hpp"
#include "../kernel_sockets.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

namespace quintet {

std::unique_ptr<engine> make_shm_engine(std::unique_ptr<engine> inner) {
  return std::make_unique<shm::engine>(std::move(inner));
}

namespace shm {
namespace {

// A look at a port costs a few nanoseconds, a look at the sockets a system call. A served port may cost microseconds,
// for its handler and for waking its peer. So sockets wait for at most this many turns without work, and with work for
// this time, this many ports and this many bytes, whichever is first.
constexpr unsigned turns_between_sockets = 8;
constexpr duration time_between_sockets = std::chrono::microseconds(16);
constexpr unsigned served_between_sockets = 64;
constexpr std::size_t bytes_between_sockets = 256 * 1024;
constexpr unsigned served_per_clock = 4;  // reading the clock costs some 25 ns
// A port that a loop finds empty so often, for so long, goes to sleep, so that turns do not cost more with each idle
// port. The time is longer than most peers need for their next request: waking a loop that spins would cost them more.
constexpr unsigned looks_before_sleep = 64;
constexpr duration idle_before_sleep = std::chrono::microseconds(250);

}  // namespace

// ---- Turns ----------------------------------------------------------------------------------------------------------

bool engine::poll(duration longest) {
  destroy_removed();
  if (looked_at_.empty()) return wait(longest);
  wake_ports();
  const bool worked = look();
  if (next_ == 0) drop_idle();
  if (worked || (longest == duration::zero() && !looked_at_.empty()))
    return (sockets_are_due() && look_at_sockets(duration::zero())) || worked;
  if (longest > duration::zero() && !sleep_ports()) longest = duration::zero();
  return wait(longest);
}

bool engine::wait(duration longest) {
  bool worked = look_at_sockets(longest);
  wake_ports();
  if (!looked_at_.empty()) worked = look() || worked;
  return worked;
}

bool engine::look_at_sockets(duration longest) {
  const bool worked = waiter().poll(longest);
  turns_ = served_ = 0;
  bytes_ = 0;
  looked_ = clock::system().now();
  return worked;
}

bool engine::sockets_are_due() noexcept { return ++turns_ >= turns_between_sockets || has_done_much(); }

bool engine::has_done_much() noexcept {
  if (served_ >= served_between_sockets || bytes_ >= bytes_between_sockets) return true;
  return served_ >= served_per_clock && clock::system().now() - looked_ >= time_between_sockets;
}

// Ends early when the sockets are due; the next call goes on behind the last port. Ports that a handler adds meanwhile
// have their turn next time.
bool engine::look() {
  bool worked = false;
  const std::size_t count = looked_at_.size();
  for (std::size_t i = std::exchange(next_, 0); i < count; ++i) {
    port* const p = looked_at_[i];
    if (!p) continue;
    const bool served = serve_events(*p);
    p->note_look(served);
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

// One callback of each kind at most, so that no port starves the others.
bool engine::serve_events(port& p) {
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
  } else {
    return worked;
  }
  return true;
}

// The bytes are copied before the handler sees them: the peer could change them in the ring. Nothing is received if the
// peer has corrupted the ring since the engine looked.
void engine::receive(port& p) {
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

// Drops removed ports from the list, and those that were found empty so often that they may as well send a wake-up.
void engine::drop_idle() noexcept {
  std::size_t kept = 0;
  for (port* const p : looked_at_) {
    if (!p) continue;
    if (p->looks_in_vain() >= looks_before_sleep && p->has_been_idle(idle_before_sleep)) {
      p->announce_sleep();
      std::atomic_thread_fence(std::memory_order_seq_cst);
      if (!p->has_work()) {
        p->listed_at = port::not_listed;
        continue;
      }
      p->stay_awake();
    }
    p->listed_at = kept;
    looked_at_[kept++] = p;
  }
  looked_at_.resize(kept);
}

// Returns false if a port has work already.
bool engine::sleep_ports() noexcept {
  ports_sleep_ = true;
  for (port* const p : looked_at_)
    if (p) p->announce_sleep();
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return std::ranges::none_of(looked_at_, [](port* p) { return p && p->has_work(); });
}

void engine::wake_ports() noexcept {
  if (!std::exchange(ports_sleep_, false)) return;
  for (port* const p : looked_at_)
    if (p) p->stay_awake();
}

void engine::look_at(port& p) noexcept {
  if (p.listed_at != port::not_listed || !p.served()) return;
  p.listed_at = looked_at_.size();
  looked_at_.push_back(&p);  // add_port() has made room
}

int engine::descriptor() noexcept {
  if (!sleep_ports()) wake();
  return waiter().embedding()->descriptor();
}

// ---- Channels -------------------------------------------------------------------------------------------------------

error_code engine::add(channel& c, stream_handle&& handle) {
  if (is_stream(c) && carried_endpoint::of(handle)) return add_port(static_cast<stream_channel&>(c), std::move(handle));
  return add_to_inner(c, std::move(handle));
}

// All ports can be listed in one turn, beside removed ones: look_at() needs no memory.
error_code engine::add_port(stream_channel& c, stream_handle&& stream) try {
  const int socket = stream.get();
  if (socket < 0) return system_error_code(EBADF);
  reserve_for_port(socket);
  reserve_in(looked_at_);
  if (!received_) received_ = std::make_unique_for_overwrite<char[]>(receive_size);
  if (capabilities().single_stream && !substitute_) substitute_ = std::make_unique<epoll_engine>();
  auto made = std::make_unique<port>(*this, c, std::move(stream));
  use_substitute(true);
  if (const error_code failed = waiter().add(*made, socket)) {
    use_substitute(false);
    stream = made->release();
    return failed;
  }
  look_at(*made);
  serve(c, socket, std::move(made));
  return {};
} catch (const std::bad_alloc&) {
  return make_error_code(boost::system::errc::not_enough_memory);
} catch (const boost::system::system_error& failed) {
  return failed.code();
}

// A wake() before the switch went to the other engine, so this one is woken too.
void engine::use_substitute(bool on) noexcept {
  if (!capabilities().single_stream) return;
  substitute_in_use_.store(on);
  waiter().wake();
}

stream_handle engine::detach(port& p) noexcept {
  (void)waiter().remove(p);
  use_substitute(false);
  if (p.listed_at != port::not_listed) looked_at_[p.listed_at] = nullptr;
  return p.release();
}

// The peer reads what it was sent from its own mapping of the segment. The inner engine has sent nothing on this socket
// and does not watch it any more, so a socket that the endpoint keeps needs no close() of the inner engine.
void engine::close(stream_handle&& handle) noexcept {
  if (carried_endpoint* const left = carried_endpoint::of(handle)) {
    const bool is_reset = kernel_sockets::resets_when_closed(handle.get());
    if (left->end.close(is_reset ? stream_end::reset : stream_end::finished, handle.get())) return;
  }
  inner().close(std::move(handle));
}

}  // namespace shm
}  // namespace quintet
