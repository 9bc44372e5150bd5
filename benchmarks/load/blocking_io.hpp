// SPDX-License-Identifier: BSL-1.0
// blocking_io.hpp: sends and receives that wait, whole. A call with a time limit (SO_RCVTIMEO) ends with EINTR whatever
// SA_RESTART says, and needs no signal for it: what a ring of io_uring has left to do for the thread is enough.
#pragma once

#include "unique_fd.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <span>
#include <string_view>

namespace quintet::bench {

/// As recv() without flags, but for EINTR.
inline ssize_t receive_some(const unique_fd& fd, std::span<char> into) {
  ssize_t got = 0;
  do got = ::recv(fd.get(), into.data(), into.size(), 0);
  while (got < 0 && errno == EINTR);
  return got;
}

/// How much of it there was: less at the end of the stream, at an error, and when nothing has come in time.
inline std::size_t receive_whole(const unique_fd& fd, std::span<char> into) {
  std::size_t have = 0;
  while (have < into.size()) {
    const ssize_t got = receive_some(fd, into.subspan(have));
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
  }
  return have;
}

/// False: errno says why not all of it has left.
inline bool send_whole(const unique_fd& fd, std::string_view data) {
  while (!data.empty()) {
    const ssize_t sent = ::send(fd.get(), data.data(), data.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) return false;
    if (sent > 0) data.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

}  // namespace quintet::bench
