// SPDX-License-Identifier: BSL-1.0
// client: plain blocking system calls.
#include "client.hpp"

#include "waiting.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace quintet::test {
namespace {

template <class T>
void set(int fd, int level, int option, const T& value) {
  if (::setsockopt(fd, level, option, &value, sizeof value) != 0)
    throw std::system_error(errno, std::generic_category(), "setsockopt");
}

/// After a signal has interrupted connect(), the kernel goes on connecting. Waits for the end; returns an errno value.
int result_of_connecting(int fd) {
  pollfd until{.fd = fd, .events = POLLOUT, .revents = 0};
  int ready = 0;
  do ready = ::poll(&until, 1, static_cast<int>(std::chrono::milliseconds(patience).count()));
  while (ready < 0 && errno == EINTR);
  if (ready <= 0) return ready == 0 ? ETIMEDOUT : errno;
  int failed = 0;
  socklen_t size = sizeof failed;
  return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &size) == 0 ? failed : errno;
}

}  // namespace

std::string_view to_string(ending e) {
  switch (e) {
    case ending::none:
      return "open";
    case ending::orderly:
      return "end of stream";
    case ending::reset:
      return "reset";
  }
  return "unknown";
}

client::client(adopted, int fd) : fd_(fd) {
  if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "socket");
  set(fd_, SOL_SOCKET, SO_RCVTIMEO, timeval{patience.count(), 0});
  set(fd_, SOL_SOCKET, SO_SNDTIMEO, timeval{patience.count(), 0});
}

client client::over(int fd) { return {adopted(), fd}; }

client::client(std::uint16_t port, const client_options& options)
    : client(adopted(), ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  set(fd_, IPPROTO_TCP, TCP_NODELAY, 1);
  if (options.receive_buffer > 0) set(fd_, SOL_SOCKET, SO_RCVBUF, options.receive_buffer);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (::inet_pton(AF_INET, options.host.c_str(), &address.sin_addr) != 1) throw std::runtime_error("no address");
  if (::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    // This thread may have run a loop with an io_uring. Its late release can interrupt connect().
    if (errno == EINTR) errno = result_of_connecting(fd_);
    if (errno != 0) throw std::system_error(errno, std::generic_category(), "connect");
  }
}

client::client(client&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      stream_(std::move(other.stream_)),
      buffer_(std::move(other.buffer_)),
      ended_(other.ended_) {}

client& client::operator=(client&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(stream_, other.stream_);
  std::swap(buffer_, other.buffer_);
  std::swap(ended_, other.ended_);
  return *this;
}

client::~client() { close(); }

bool client::send(std::string_view data) {
  if (stream_) return stream_->send(data);
  while (!data.empty()) {
    const ssize_t n = ::send(fd_, data.data(), data.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) throw std::runtime_error("client: the server takes no input");
    if (n < 0) return false;
    data.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

bool client::receive_more() {
  if (ended_ != ending::none) return false;
  if (stream_) return (ended_ = stream_->receive_to(buffer_)) == ending::none;
  std::array<char, 64 * 1024> chunk;
  ssize_t n = 0;
  do n = ::recv(fd_, chunk.data(), chunk.size(), 0);
  while (n < 0 && errno == EINTR);
  if (n < 0 && errno == EAGAIN) throw std::runtime_error("client: the server sends nothing");
  if (n <= 0) ended_ = n == 0 ? ending::orderly : ending::reset;
  if (n > 0) buffer_.append(chunk.data(), static_cast<std::size_t>(n));
  return n > 0;
}

std::string client::receive(std::size_t count) {
  while (buffer_.size() < count && receive_more()) {
  }
  std::string result = buffer_.substr(0, count);
  buffer_.erase(0, count);
  return result;
}

std::string client::receive_some() {
  if (buffer_.empty()) (void)receive_more();
  return std::exchange(buffer_, {});
}

bool client::receive_into(std::string& whole) {
  for (std::size_t got = 0; got < whole.size();) {
    const ssize_t n = ::recv(fd_, whole.data() + got, whole.size() - got, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    got += static_cast<std::size_t>(n);
  }
  return true;
}

std::string client::receive_line() {
  std::size_t from = 0, end = 0;
  while ((end = buffer_.find('\n', from)) == std::string::npos) {
    from = buffer_.size();
    if (!receive_more()) return std::exchange(buffer_, {});
  }
  std::string result = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return result;
}

std::string client::receive_rest() {
  while (receive_more()) {
  }
  return std::exchange(buffer_, {});
}

void client::finish_sending() {
  if (stream_) return stream_->finish_sending();
  ::shutdown(fd_, SHUT_WR);
}

void client::reset() {
  if (stream_) stream_->reset_when_closed();
  if (fd_ >= 0) set(fd_, SOL_SOCKET, SO_LINGER, linger{1, 0});
  close();
}

void client::close() {
  stream_.reset();
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

}  // namespace quintet::test
