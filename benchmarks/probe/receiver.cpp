// SPDX-License-Identifier: BSL-1.0
// receiver.cpp: one blocking socket. It asks for more before the requested bytes have all arrived.
#include "probe/receiver.hpp"

#include "load/clock.hpp"
#include "piece_stream.hpp"
#include "unique_fd.hpp"
#include "workloads.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

namespace quintet::bench {
namespace {

constexpr auto warm_up = std::chrono::milliseconds(100);
constexpr std::size_t request_bytes = 64;
// A server that flushes each message finishes them in one call of its handler, in which it sees neither the end of this
// connection nor a signal: with 4 GiB it did not end in time.
constexpr std::uint32_t asked_at_once = 64U << 20;

class receiver {
 public:
  receiver(const socket_address& from, const piece_stream& expected)
      : expected_(expected), socket_(connect_blocking(from, 5000)), buffer_(256 * 1024, '\0') {
    if (!socket_) throw std::runtime_error(fmt::format("cannot connect: {}", std::strerror(errno)));
  }

  void receive_for(std::chrono::nanoseconds time) {
    const auto end = now_ns() + static_cast<std::uint64_t>(time.count());
    while (now_ns() < end) receive();
  }
  [[nodiscard]] std::uint64_t received() const { return received_; }

 private:
  void receive() {
    if (asked_ - received_ < asked_at_once / 2) ask();
    const ssize_t count = ::recv(socket_.get(), buffer_.data(), buffer_.size(), 0);
    if (count == 0) throw std::runtime_error("the server has closed the connection");
    if (count < 0) throw std::runtime_error(fmt::format("cannot receive: {}", std::strerror(errno)));
    const auto arrived = std::string_view(buffer_).substr(0, static_cast<std::size_t>(count));
    if (!expected_.matches(received_, arrived)) throw std::runtime_error("the server sent wrong bytes");
    received_ += arrived.size();
  }
  void ask() {
    char request[request_bytes] = {};
    store_big_endian(request, asking_connection);
    store_big_endian(request + 4, asked_at_once);
    if (::send(socket_.get(), request, sizeof request, MSG_NOSIGNAL) != ssize_t{sizeof request})
      throw std::runtime_error(fmt::format("cannot ask: {}", std::strerror(errno)));
    asked_ += asked_at_once;
  }

  const piece_stream& expected_;
  unique_fd socket_;
  std::string buffer_;
  std::uint64_t asked_ = 0, received_ = 0;
};

server_sample sample(pid_t sender) {
  if (const auto found = sample_server(sender)) return *found;
  throw std::runtime_error("the server has ended");
}

}  // namespace

received_stream receive_messages(const socket_address& from, pid_t sender, count_range sizes,
                                 std::chrono::nanoseconds how_long) {
  const piece_stream messages(sizes);
  receiver r(from, messages);
  r.receive_for(warm_up);
  const auto before = sample(sender);
  const double cpu_before = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
  const std::uint64_t received_before = r.received();
  r.receive_for(how_long);
  return {.bytes = r.received() - received_before,
          .mean_message_bytes = messages.mean_size(),
          .receiver_cpu_s = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - cpu_before,
          .sender = use_between(before, sample(sender))};
}

}  // namespace quintet::bench
