// SPDX-License-Identifier: BSL-1.0
// asking.cpp: sends requests and tracks the fate of each connection.
#include "stress/asking.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace quintet::bench {

asking::asking(const stress_run& run, const std::vector<unique_fd>& peers)
    : run_(run),
      peers_(peers),
      fates_(peers.size(), fate::waiting),
      watched_(peers.size(), true),
      received_(peers.size(), 0) {
  char request[request_bytes];
  for (std::size_t i = 0; i < peers.size(); ++i) {
    const auto number = static_cast<std::uint32_t>(i);
    request_stream(pattern_, request_bytes, number, 0).produce(0, request, sizeof request);
    ready_.add(peers[i].get(), EPOLLIN, number);
    // If send() fails, the server has closed the connection, and epoll reports it.
    (void)::send(peers[i].get(), request, sizeof request, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
}

void asking::listen(std::size_t until_decided, std::chrono::nanoseconds length) {
  constexpr std::uint64_t look_around_ns = 50'000'000;
  const auto end = now_ns() + static_cast<std::uint64_t>(length.count());
  for (auto now = now_ns(); decided_ < until_decided && now < end; now = now_ns()) {
    for (const epoll_event& e : ready_.wait(std::min(end - now, look_around_ns)))
      if (watched_[e.data.u32]) receive(e.data.u32);
    run_.check_time();
  }
}

std::size_t asking::count(fate f) const {
  return static_cast<std::size_t>(std::count(fates_.begin(), fates_.end(), f));
}

void asking::receive(std::size_t peer) {
  char buffer[2 * request_bytes];
  const ssize_t n = ::recv(peers_[peer].get(), buffer, sizeof buffer, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) return set_fate(peer, fate::closed);
  const auto length = static_cast<std::uint32_t>(n);
  const request_stream wanted(pattern_, request_bytes, static_cast<std::uint32_t>(peer), 0);
  const bool right = received_[peer] + length <= request_bytes && wanted.matches(received_[peer], {buffer, length});
  received_[peer] += length;
  if (!right) return set_fate(peer, fate::wrong);
  if (received_[peer] < request_bytes) return;
  last_reply_ns_ = now_ns();
  set_fate(peer, fate::answered);
}

// A connection that is closed after its reply counts as closed.
void asking::set_fate(std::size_t peer, fate f) {
  if (fates_[peer] == fate::waiting) ++decided_;
  fates_[peer] = f;
  if (f == fate::answered) return;
  watched_[peer] = false;
  ready_.remove(peers_[peer].get());
}

}  // namespace quintet::bench
