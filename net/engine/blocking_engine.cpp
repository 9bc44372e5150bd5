// SPDX-License-Identifier: BSL-1.0
// blocking_engine: blocks in receive and send, and ends these calls by a signal.
#include "blocking_engine.hpp"

#include "../../base/build/sanitizers.hpp"
#include "../watch/shared_signal.hpp"
#include "passed_descriptors.hpp"
#include "system_call.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <thread>
#include <utility>

namespace quintet {
namespace {

constexpr duration shortest = std::chrono::microseconds(1);
// Checks for a sent signal until the thread unblocks it again. On a busy machine, a check takes milliseconds.
constexpr int checks_until_unblock = 8;

// ThreadSanitizer delays the handler of a signal that arrives as recv begins, and so the time-out that would end the
// call. This limit bounds the delay of such a wake.
constexpr duration longest_call = thread_sanitizer ? std::chrono::milliseconds(100) : engine::forever;

/// The state of a thread, for the signal handler.
struct waiting {
  blocking_engine* volatile engine = nullptr;  // the engine whose call the thread is in
  bool known = false;                          // the target is registered, and the signal is unblocked
};
constinit thread_local waiting here;

timeval to_timeval(duration d) noexcept {
  d = std::min(d, longest_call);
  if (d == engine::forever) return {0, 0};
  const auto us = std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::microseconds>(d).count());
  return {static_cast<time_t>(us / 1'000'000), static_cast<suseconds_t>(us % 1'000'000)};
}

timespec to_timespec(duration d) noexcept {
  const std::int64_t ns = std::min(d, std::min<duration>(longest_call, std::chrono::hours(24))).count();
  return {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
}

}  // namespace

// No SA_RESTART: the signal's purpose is to end a call.
constinit shared_signal blocking_engine::wakes(&blocking_engine::on_signal);

blocking_engine::blocking_engine()
    : socket_engine({.name = "blocking", .blocking_send = true, .single_stream = true, .can_detach = true}, this),
      received_(std::make_unique_for_overwrite<char[]>(receive_size)) {
  wakes.use(wake_signal);
}

error_code blocking_engine::add(channel& c, stream_handle&& stream) {
  if (!is_stream(c) || stream.carried()) return system_error_code(EOPNOTSUPP);
  if (stream_) return system_error_code(EBUSY);
  const int handle = stream.get();
  if (const error_code refused = kernel_sockets::set_blocking(handle)) return refused;
  bind(c, handle);
  stream_ = static_cast<stream_channel*>(&c);
  here.known = false;  // a handler of the previous stream may have blocked the signal
  handle_.store(handle, std::memory_order_relaxed);
  slow_path_ = {.guarded = passed_descriptors::must_guard(stream)};
  hears_end_ = true;
  receive_timeout_ = send_timeout_ = forever;
  if constexpr (longest_call != forever) {
    set_timeout(SO_RCVTIMEO, forever);
    set_timeout(SO_SNDTIMEO, forever);
  }
  return {};
}

stream_handle blocking_engine::remove(channel& c) noexcept {
  notify_descriptor_closing();
  handle_.store(-1, std::memory_order_relaxed);
  stream_ = nullptr;
  return unbind(c);
}

bool blocking_engine::poll(duration longest) {
  if (!stream_) return park(longest);
  if (slow_path_.none() && kind_of(*stream_) == kind::stream) [[likely]]
    return receive(longest, false);
  return take_slow_path(longest);
}

// Waking too early costs a turn, changing the time-out a system call. A deadline comes nearer with each message, or is
// postponed by it, and not each message may cost a system call. So a long time-out ends somewhat early.
bool blocking_engine::timeout_fits(duration longest) const noexcept {
  return longest == receive_timeout_ || (receive_timeout_ < longest && receive_timeout_ > longest / 2);
}

[[gnu::noinline]] void blocking_engine::set_receive_timeout(duration longest) noexcept {
  const bool is_long = longest > std::chrono::seconds(1) && longest != forever;
  set_timeout(SO_RCVTIMEO, receive_timeout_ = is_long ? longest - longest / 8 : longest);
}

inline ssize_t blocking_engine::receive_into(std::span<char> place, duration longest, bool guarded) noexcept {
  const bool waits = longest > duration::zero();
  if (waits && !timeout_fits(longest)) set_receive_timeout(longest);
  if (waits && !enter_call()) return -EINTR;
  const int flags = waits ? 0 : MSG_DONTWAIT;
  const ssize_t n = guarded ? passed_descriptors::receive(stream_->handle(), place.data(), place.size(), flags)
                            : system_call::receive(stream_->handle(), place.data(), place.size(), flags);
  if (waits) (void)leave_call();
  return n;
}

inline bool blocking_engine::receive(duration longest, bool guarded) {
  const ssize_t n = receive_into({received_.get(), receive_limit()}, longest, guarded);
  if (n <= 0) return nothing_received(n);
  stream_->on_received({received_.get(), static_cast<std::size_t>(n)});
  return true;
}

bool blocking_engine::nothing_received(ssize_t result) {
  if (system_call::is_for_now(result)) return false;
  slow_path_.paused = true;
  hears_end_ = false;
  stream_->on_receive_end(system_call::error_of(result));
  return true;
}

// Handles the rare cases: more to send, reading stopped, descriptors can arrive, or a stream that receives in place.
[[gnu::noinline]] bool blocking_engine::take_slow_path(duration longest) {
  if (std::exchange(slow_path_.send_again, false)) {
    stream_->on_sendable();
    return true;
  }
  if (slow_path_.paused) return hears_end_ ? wait_for_end(longest) : park(longest);
  if (kind_of(*stream_) == kind::stream) return receive(longest, slow_path_.guarded);
  const std::span<char> place = stream_->receive_space();
  if (!stream_) return true;
  if (place.empty()) {
    end_in_place(*stream_);
    return poll(longest);
  }
  const ssize_t n = receive_into(place, longest, slow_path_.guarded);
  if (n <= 0) return nothing_received(n);
  stream_->on_received_in_place(static_cast<std::size_t>(n));
  return true;
}

// Nearly always the kernel accepts all bytes at once.
engine::send_result blocking_engine::send(stream_channel& c, bytes data) noexcept {
  const ssize_t n = system_call::send(c.handle(), data.data(), data.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n >= 0 && static_cast<std::size_t>(n) == data.size()) [[likely]] {
    slow_path_.send_again = false;
    return {data.size()};
  }
  if (n < 0 && !system_call::is_for_now(n)) return {0, static_cast<int>(-n)};
  const std::size_t sent = n > 0 ? static_cast<std::size_t>(n) : 0;
  const send_result rest = engine::send(c, data.substr(sent));
  return {sent + rest.bytes, rest.error};
}

// Returns false if the send must not wait. After a wake has ended a send, sends do not wait until the next poll().
bool blocking_engine::begin_to_wait(const stream_channel& c) noexcept {
  if (slow_path_.send_again) return false;
  limit_send(c.longest_send());
  return enter_call();
}

// The first attempt does not block, and nearly always suffices. Only a send that may wait must be reachable by wake().
engine::send_result blocking_engine::send(stream_channel& c, output_pieces pieces) noexcept {
  const std::size_t offered = size_of(pieces);
  std::size_t sent = 0;
  for (bool may_wait = false; sent < offered; may_wait = true) {
    if (may_wait && !begin_to_wait(c)) break;
    const int flags = MSG_NOSIGNAL | (may_wait ? 0 : MSG_DONTWAIT);
    const ssize_t n = system_call::send(c.handle(), pieces, flags);
    const bool woken = may_wait && !leave_call();
    if (n >= 0) {
      sent += static_cast<std::size_t>(n);
      if (sent < offered) remove_prefix(pieces, static_cast<std::size_t>(n));
    } else if (!system_call::is_for_now(n)) {
      return {sent, static_cast<int>(-n)};
    }
    // Also after a partial send: the loop checks its inbox and timers, then calls on_sendable() for the rest.
    if (woken || (may_wait && send_timeout_ != forever)) break;
  }
  slow_path_.send_again = sent < offered;
  return {sent};
}

// Threads inherit the signal mask. Many programs block all signals in main() and wait for them in one thread.
bool blocking_engine::register_for_wakes() noexcept {
  wakes.unblock();
  return wakes.set_target(&here);
}

// Returns false if the caller must not wait: wake() was called, or the signal cannot reach this thread.
bool blocking_engine::enter_call() noexcept {
  // A thread that the signal cannot reach must not wait. Without memory to register it, the loop spins.
  if (!here.known && !(here.known = register_for_wakes())) [[unlikely]]
    return false;
  // Written once per thread, since a waker may still be reading it.
  if (!::pthread_equal(thread_, ::pthread_self())) thread_ = ::pthread_self();
  here.engine = this;
  state expected = state::running;
  if (state_.compare_exchange_strong(expected, state::in_call)) return true;
  state_.store(state::running);
  return false;
}

// Returns false if wake() was called during the call; consumes that wake.
bool blocking_engine::leave_call() noexcept {
  state expected = state::in_call;
  if (state_.compare_exchange_strong(expected, state::running)) {
    here.engine = nullptr;
    return true;
  }
  // The signal arrives soon, so yield; sleeping would take longer. Also, under ThreadSanitizer (g++ 12) a thread's
  // first sleep loses a signal that arrives as it begins.
  for (int checks = 1; !delivered_.load(std::memory_order_acquire); ++checks) {
    if (checks % checks_until_unblock == 0)
      wakes.unblock();  // a handler may have blocked it since register_for_wakes()
    std::this_thread::yield();
  }
  here.engine = nullptr;
  delivered_.store(false, std::memory_order_relaxed);
  set_timeout(SO_RCVTIMEO, receive_timeout_ = forever);
  set_timeout(SO_SNDTIMEO, send_timeout_);
  state_.store(state::running);
  return false;
}

void blocking_engine::wake() noexcept {
  for (state s = state_.load();;) {
    if (s == state::woken) return;
    if (!state_.compare_exchange_weak(s, state::woken)) continue;
    if (s == state::in_call) ::pthread_kill(thread_, wake_signal);
    if (s == state::parked) parked_.release();
    return;
  }
}

// Waits for the end of a stream that is not read. The wake signal is blocked but in the wait: ppoll has no time-out
// that the signal handler could shorten.
bool blocking_engine::wait_for_end(duration longest) noexcept {
  if (!here.known && !(here.known = register_for_wakes())) return false;
  sigset_t wake_up, before;
  ::sigemptyset(&wake_up);
  ::sigaddset(&wake_up, wake_signal);
  ::pthread_sigmask(SIG_BLOCK, &wake_up, &before);
  const bool waits = longest > duration::zero() && enter_call();
  pollfd watched{stream_->handle(), POLLRDHUP, 0};
  const timespec limit = to_timespec(waits ? longest : duration::zero());
  const int ready = ::ppoll(&watched, 1, &limit, &before);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (waits) (void)leave_call();
  if (ready <= 0) return false;
  hears_end_ = false;
  if (watched.revents & POLLERR)
    report_error(*stream_);
  else
    stream_->on_peer_finished();
  return true;
}

// Returns false: poll() has dispatched nothing.
bool blocking_engine::park(duration longest) noexcept {
  if (longest <= duration::zero()) return false;
  state expected = state::running;
  if (state_.compare_exchange_strong(expected, state::parked)) {
    if (longest == forever) {
      parked_.acquire();
    } else if (!parked_.try_acquire_for(longest)) {
      expected = state::parked;
      if (!state_.compare_exchange_strong(expected, state::running)) parked_.acquire();
    }
  }
  state_.store(state::running);
  return false;
}

void blocking_engine::limit_send(duration longest) noexcept {
  if (longest != send_timeout_) set_timeout(SO_SNDTIMEO, send_timeout_ = longest);
}

void blocking_engine::set_timeout(int option, duration to) noexcept {
  const timeval value = to_timeval(to);
  (void)::setsockopt(handle_.load(std::memory_order_relaxed), SOL_SOCKET, option, &value, sizeof value);
}

// Runs on the loop's thread, perhaps when it no longer waits. setsockopt is async-signal-safe (POSIX.1-2017, 2.4.3).
bool blocking_engine::on_signal(void* target, siginfo_t&, void*) noexcept {
  blocking_engine* const self = static_cast<waiting*>(target)->engine;
  if (!self || self->state_.load() != state::woken) return false;
  const int saved = errno;
  self->set_timeout(SO_RCVTIMEO, shortest);
  self->set_timeout(SO_SNDTIMEO, shortest);
  self->delivered_.store(true, std::memory_order_release);
  errno = saved;
  return true;
}

std::unique_ptr<engine> make_blocking_engine() { return std::make_unique<blocking_engine>(); }

}  // namespace quintet
