// SPDX-License-Identifier: BSL-1.0
// zero_copy.cpp: one sender, one receiver, and the error queue.
#include "probe/zero_copy.hpp"

#include "listen.hpp"
#include "load/clock.hpp"
#include "load/connect.hpp"
#include "unique_fd.hpp"

#include <linux/errqueue.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <system_error>
#include <thread>
#include <vector>

namespace quintet::bench {
namespace {

constexpr std::uint64_t most_outstanding = 64;  // sends without a completion

void require(bool done, const char* what) {
  if (!done) throw std::system_error(errno, std::generic_category(), what);
}

/// Two ends of a TCP connection over 127.0.0.1.
struct connection_pair {
  connection_pair() {
    const unique_fd listening = listen_on("127.0.0.1", 0);
    const auto at = resolve({.host = "127.0.0.1", .port = local_port(listening)});
    sender = unique_fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    require(::connect(sender.get(), at.get(), at.length) == 0, "cannot connect");
    receiver = unique_fd(::accept(listening.get(), nullptr, nullptr));
    require(static_cast<bool>(receiver), "cannot accept");
  }
  unique_fd sender, receiver;
};

/// The completions of a socket's sends with MSG_ZEROCOPY.
class completions {
 public:
  explicit completions(int fd) : fd_(fd) {}
  /// Reads all that are there, or waits until at most `most` of `sent` are outstanding.
  void reap(std::uint64_t sent, std::uint64_t most) {
    while (read_one() || sent - done_ > most) {
      pollfd error{.fd = fd_, .events = 0, .revents = 0};  // POLLERR needs no request
      if (sent - done_ > most) ::poll(&error, 1, 100);
    }
  }
  [[nodiscard]] double copied_fraction() const {
    return done_ == 0 ? 0 : static_cast<double>(copied_) / static_cast<double>(done_);
  }

 private:
  bool read_one() {
    char control[128];
    msghdr message{};
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    if (::recvmsg(fd_, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) return false;
    for (cmsghdr* c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
      const auto& found = *reinterpret_cast<const sock_extended_err*>(CMSG_DATA(c));
      if (found.ee_origin != SO_EE_ORIGIN_ZEROCOPY) continue;
      const std::uint64_t sends = found.ee_data - found.ee_info + 1;  // a range of numbers of sends
      done_ += sends;
      if (found.ee_code == SO_EE_CODE_ZEROCOPY_COPIED) copied_ += sends;
    }
    return true;
  }

  int fd_;
  std::uint64_t done_ = 0, copied_ = 0;
};

void receive_all(int fd) {
  std::vector<char> buffer(256 * 1024);
  while (::recv(fd, buffer.data(), buffer.size(), 0) > 0) {
  }
}

}  // namespace

zero_copy_cost measure_zero_copy(std::size_t bytes, bool zero_copy, std::chrono::nanoseconds time) {
  connection_pair pair;
  const int fd = pair.sender.get(), on = 1;
  if (zero_copy && ::setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof on) != 0)
    return {.error = std::generic_category().message(errno)};
  std::jthread receiver([&] { receive_all(pair.receiver.get()); });
  const std::vector<char> data(bytes, 'z');
  completions done(fd);
  std::uint64_t sent = 0, sends = 0;
  const double cpu_before = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
  const std::uint64_t begin = now_ns(), end = begin + static_cast<std::uint64_t>(time.count());
  while (now_ns() < end) {
    const ssize_t taken = ::send(fd, data.data(), bytes, MSG_NOSIGNAL | (zero_copy ? MSG_ZEROCOPY : 0));
    if (taken < 0 && errno == ENOBUFS) {  // too much memory is pinned (optmem_max)
      done.reap(sends, most_outstanding / 2);
      continue;
    }
    require(taken > 0, "cannot send");
    sent += static_cast<std::uint64_t>(taken);
    ++sends;
    if (zero_copy && sends % 8 == 0) done.reap(sends, most_outstanding);
  }
  if (zero_copy) done.reap(sends, 0);
  const double seconds = static_cast<double>(now_ns() - begin) / 1e9;
  const double cpu_us = (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - cpu_before) * 1e6;
  ::shutdown(fd, SHUT_WR);  // ends the receiver
  return {.error = {},
          .bytes_per_s = static_cast<double>(sent) / seconds,
          .cpu_us_per_send = cpu_us / static_cast<double>(sends),
          .copied_fraction = done.copied_fraction()};
}

}  // namespace quintet::bench
