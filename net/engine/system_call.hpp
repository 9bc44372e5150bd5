// SPDX-License-Identifier: BSL-1.0
// system_call: receives and sends without a cancellation point.
#pragma once

#include "../../base/build/sanitizers.hpp"
#include "engine.hpp"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

// Once a process has two threads, glibc's recv, send and epoll_wait switch asynchronous cancellation on and off around
// each call. This library does not support pthread_cancel, so its calls enter the kernel directly. Sanitizers intercept
// glibc's functions, so sanitized builds call those. So do builds without Linux. User-space instructions of an echo of
// 8 bytes at 100 connections (benchmarks/budget/check, glibc 2.36, x86-64): direct 133.7, syscall(2) 172.9, glibc's
// functions 253.2. Network stacks that are preloaded (LD_PRELOAD) see only calls of the C library: QUINTET_LIBC_CALLS.
#if QUINTET_ADDRESS_SANITIZER || QUINTET_THREAD_SANITIZER || defined(QUINTET_LIBC_CALLS) || !defined(__linux__)
#define QUINTET_DIRECT_SYSTEM_CALLS 0
#elif defined(__has_feature)
#if __has_feature(memory_sanitizer)
#define QUINTET_DIRECT_SYSTEM_CALLS 0
#endif
#endif
#ifndef QUINTET_DIRECT_SYSTEM_CALLS
#define QUINTET_DIRECT_SYSTEM_CALLS 1
#endif
#if QUINTET_DIRECT_SYSTEM_CALLS
#include <sys/syscall.h>
#endif

namespace quintet::system_call {

/// Converts a wait for epoll_wait and poll: -1 for engine::forever, else rounded up so that the wait never ends early,
/// and at most engine::longest_wait. A negative wait becomes 0: the kernel would wait without a limit.
inline int to_milliseconds(duration longest) noexcept {
  if (longest == engine::forever) return -1;
  constexpr std::int64_t ns_in_ms = 1'000'000;  // std::chrono::ceil takes three instructions more
  const std::int64_t ns = longest.count();
  const std::int64_t ms = ns > 0 ? (ns - 1) / ns_in_ms + 1 : 0;
  return static_cast<int>(std::min<std::int64_t>(ms, engine::longest_wait / std::chrono::milliseconds(1)));
}

// [any thread] The functions behave as their namesakes, but return an error as the kernel does: as -errno.

/// Returns whether a result is temporary, so that the stream is intact.
constexpr bool is_for_now(ssize_t result) noexcept { return result == -EAGAIN || result == -EINTR; }
/// Converts a result that is not positive. 0 (end of input) is no error.
inline error_code error_of(ssize_t result) noexcept { return system_error_code(static_cast<int>(-result)); }

#if QUINTET_DIRECT_SYSTEM_CALLS
/// Enters the kernel as syscall(2) does; on x86-64 by an inline instruction.
inline long direct(long number, long a, long b, long c, long d) noexcept {
#if defined(__x86_64__)
  long result = number;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = 0;
  register long r9 __asm__("r9") = 0;
  __asm__ volatile("syscall"
                   : "+a"(result)
                   : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
#else
  const long result = ::syscall(number, a, b, c, d, 0L, 0L);
  return result < 0 ? -errno : result;
#endif
}
inline long as_word(const void* p) noexcept { return reinterpret_cast<long>(p); }
#else
inline long with_errno(long result) noexcept { return result < 0 ? -errno : result; }
#endif

inline ssize_t receive(int socket, void* into, std::size_t size, int flags) noexcept {
#if QUINTET_DIRECT_SYSTEM_CALLS
  return direct(SYS_recvfrom, socket, as_word(into), static_cast<long>(size), flags);
#else
  return with_errno(::recv(socket, into, size, flags));
#endif
}

inline ssize_t send(int socket, const void* from, std::size_t size, int flags) noexcept {
#if QUINTET_DIRECT_SYSTEM_CALLS
  return direct(SYS_sendto, socket, as_word(from), static_cast<long>(size), flags);
#else
  return with_errno(::send(socket, from, size, flags));
#endif
}

/// Sends several pieces, as sendmsg does.
inline ssize_t send(int socket, std::span<iovec> pieces, int flags) noexcept {
  if (pieces.size() == 1) return send(socket, pieces[0].iov_base, pieces[0].iov_len, flags);
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = pieces.size();
#if QUINTET_DIRECT_SYSTEM_CALLS
  return direct(SYS_sendmsg, socket, as_word(&message), flags, 0);
#else
  return with_errno(::sendmsg(socket, &message, flags));
#endif
}

}  // namespace quintet::system_call

namespace quintet {

/// [loop] Does what engine::send() does.
inline engine::send_result send_now(engine& io, stream_channel& c, bytes data) noexcept {
  if (!c.sends_directly()) return io.send(c, data);
  const ssize_t n = system_call::send(c.handle(), data.data(), data.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (n == static_cast<ssize_t>(data.size())) [[likely]]
    return {data.size()};
  return io.end_direct_send(c, data.size(), n);
}

}  // namespace quintet
