// SPDX-License-Identifier: BSL-1.0
// load: non-blocking sockets and poll.
#include "load.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace quintet::test {

using clock = std::chrono::steady_clock;

load::load(std::uint16_t port, const load_options& options)
    : port_(port), options_(options), random_(options.seed), links_(options.connections) {
  for (link& l : links_) {
    open(l);
    ask(l);
  }
}

load::~load() {
  for (link& l : links_) close(l);
}

void load::open(link& l) {
  l = {};
  l.fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (l.fd < 0) throw std::system_error(errno, std::generic_category(), "load: socket");
  if (options_.receive_buffer > 0)
    ::setsockopt(l.fd, SOL_SOCKET, SO_RCVBUF, &options_.receive_buffer, sizeof options_.receive_buffer);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port_);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(l.fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
    throw std::system_error(errno, std::generic_category(), "load: connect");
  sockaddr_in here{};
  socklen_t size = sizeof here;
  if (::getsockname(l.fd, reinterpret_cast<sockaddr*>(&here), &size) != 0)
    throw std::system_error(errno, std::generic_category(), "load: getsockname");
  l.port = ntohs(here.sin_port);
  l.progress = clock::now();
}

void load::close(link& l) noexcept {
  if (l.fd >= 0) ::close(std::exchange(l.fd, -1));
}

std::string load::message() {
  const bool is_large = random_() % 8 == 0;
  const std::size_t size = 1 + random_() % (is_large ? options_.largest : std::min<std::size_t>(500, options_.largest));
  std::string whole;
  for (const unsigned shift : {24U, 16U, 8U, 0U}) whole += static_cast<char>(size >> shift & 255U);
  const auto first = static_cast<unsigned>(random_());
  for (std::size_t i = 0; i < size; ++i) whole += static_cast<char>(first + i * 7);
  return whole;
}

void load::ask(link& l) {
  l.request.clear();
  l.sent = l.received = 0;
  if (finishing_) return;
  for (std::size_t i = 0, count = 1 + random_() % 3; i < count; ++i) l.request += message();
  send(l);
}

void load::lose(link& l) {
  ++result_.lost;
  result_.lost_ports.push_back(l.port);
  close(l);
  open(l);
  ask(l);
}

void load::send(link& l) {
  const std::string_view rest = std::string_view(l.request).substr(l.sent);
  const ssize_t n = ::send(l.fd, rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n > 0) {
    l.sent += static_cast<std::size_t>(n);
    l.progress = clock::now();
  } else if (n < 0 && errno != EAGAIN && errno != EINTR) {
    lose(l);
  }
}

void load::receive(link& l) {
  std::array<char, 65536> into;
  const std::size_t most = options_.receive_buffer > 0 ? 2048 : into.size();
  const ssize_t n = ::recv(l.fd, into.data(), most, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) return lose(l);
  l.progress = clock::now();
  const std::string_view got(into.data(), static_cast<std::size_t>(n));
  if (std::string_view(l.request).substr(l.received, got.size()) != got || l.received + got.size() > l.sent) {
    ++result_.corrupt;
    close(l);
    open(l);
    return ask(l);
  }
  l.received += got.size();
  if (!l.idle()) return;
  ++result_.replies;
  if (++l.exchanges == options_.exchanges && !finishing_) {
    close(l);
    open(l);
  }
  ask(l);
}

void load::serve(link& l, short events) {
  if (events & (POLLIN | POLLHUP | POLLERR)) return receive(l);
  if (events & POLLOUT) return send(l);
  if (l.idle() || clock::now() - l.progress < longest_wait) return;
  ++result_.stalls;
  close(l);
  open(l);
  ask(l);
}

void load::turn() {
  std::vector<pollfd> watched;
  for (const link& l : links_)
    watched.push_back({l.fd, static_cast<short>(l.sent < l.request.size() ? POLLIN | POLLOUT : POLLIN), 0});
  ::poll(watched.data(), watched.size(), 5);
  for (std::size_t i = 0; i < links_.size(); ++i) serve(links_[i], watched[i].revents);
}

void load::finish() {
  finishing_ = true;
  while (std::ranges::any_of(links_, [](const link& l) { return !l.idle(); })) turn();
}

}  // namespace quintet::test
