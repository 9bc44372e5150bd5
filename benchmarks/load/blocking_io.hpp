// SPDX-License-Identifier: BSL-1.0
// blocking_io.hpp: blocking sends and receives of whole buffers. A call with a time limit (SO_RCVTIMEO) can fail with
// EINTR despite SA_RESTART and without a signal: pending task work of an io_uring ring is enough.
#pragma once

#include "unique_fd.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <span>
#include <string_view>

namespace quintet::bench {

/// Calls recv() without flags and retries after EINTR.
inline ssize_t receive_some(const unique_fd& fd, std::span<char> into) {
  ssize_t got = 0;
  do got = ::recv(fd.get(), into.data(), into.size(), 0);
  while (got < 0 && errno == EINTR);
  return got;
}

/// Returns the number of bytes received. It is smaller than `into` at the end of the stream, at an error, and after the
/// socket's time limit.
inline std::size_t receive_whole(const unique_fd& fd, std::span<char> into) {
  std::size_t have = 0;
  while (have < into.size()) {
    const ssize_t got = receive_some(fd, into.subspan(have));
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
  }
  return have;
}

/// Sends all of `data`. Returns false with errno set if it could not.
inline bool send_whole(const unique_fd& fd, std::string_view data) {
  while (!data.empty()) {
    const ssize_t sent = ::send(fd.get(), data.data(), data.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) return false;
    if (sent > 0) data.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

}  // namespace quintet::bench
