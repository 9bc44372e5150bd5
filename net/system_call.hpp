// SPDX-License-Identifier: BSL-1.0
// system_call: receiving, sending and waiting without being a cancellation point.
#pragma once

#include <quintet/net/engine.hpp>

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

// glibc's recv, send and epoll_wait switch asynchronous cancellation on and off around the call once a process has two
// threads: 90 instructions each (glibc 2.36, x86-64), which is more than the rest of an echo costs. pthread_cancel is
// no way to end a thread of this library, so these go to the kernel directly. Sanitizers need to see the calls that
// they know.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define QUINTET_PLAIN_SYSTEM_CALLS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define QUINTET_PLAIN_SYSTEM_CALLS 0
#endif
#endif
#ifndef QUINTET_PLAIN_SYSTEM_CALLS
#define QUINTET_PLAIN_SYSTEM_CALLS 1
#endif

namespace quintet::system_call {

/// A wait as epoll_wait and poll take it: -1 for engine::forever; never early.
inline int to_milliseconds(duration longest) noexcept {
  if (longest == engine::forever) return -1;
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(longest).count();
  return static_cast<int>(std::min<std::int64_t>(ms, std::numeric_limits<int>::max()));
}

// All as their namesakes: -1 and errno for an error.

inline ssize_t receive(int socket, void* into, std::size_t size, int flags) noexcept {
#if QUINTET_PLAIN_SYSTEM_CALLS
  return ::syscall(SYS_recvfrom, socket, into, size, flags, nullptr, nullptr);
#else
  return ::recv(socket, into, size, flags);
#endif
}

inline ssize_t send(int socket, const void* from, std::size_t size, int flags) noexcept {
#if QUINTET_PLAIN_SYSTEM_CALLS
  return ::syscall(SYS_sendto, socket, from, size, flags, nullptr, 0);
#else
  return ::send(socket, from, size, flags);
#endif
}

/// Several pieces, as with sendmsg.
inline ssize_t send(int socket, std::span<iovec> pieces, int flags) noexcept {
  if (pieces.size() == 1) return send(socket, pieces[0].iov_base, pieces[0].iov_len, flags);
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = pieces.size();
#if QUINTET_PLAIN_SYSTEM_CALLS
  return ::syscall(SYS_sendmsg, socket, &message, flags);
#else
  return ::sendmsg(socket, &message, flags);
#endif
}

inline int epoll_wait(int set, epoll_event* ready, int size, int milliseconds) noexcept {
#if QUINTET_PLAIN_SYSTEM_CALLS && defined(SYS_epoll_wait)
  return static_cast<int>(::syscall(SYS_epoll_wait, set, ready, size, milliseconds));
#else
  return ::epoll_wait(set, ready, size, milliseconds);
#endif
}

}  // namespace quintet::system_call
