// SPDX-License-Identifier: BSL-1.0
// innocent.cpp: connects, sends and waits, each step within the bound.
#include "stress/innocent.hpp"

#include "load/clock.hpp"
#include "load/connect.hpp"

#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace quintet::bench {
namespace {

constexpr std::uint64_t interval_ns = 20'000'000;

/// Returns false at the deadline or when stopped.
bool wait_for(const unique_fd& fd, short events, std::uint64_t deadline, const std::atomic<bool>& stopped) {
  for (auto now = now_ns(); now < deadline && !stopped; now = now_ns()) {
    pollfd state{.fd = fd.get(), .events = events, .revents = 0};
    const auto left_ms = static_cast<int>((deadline - now) / 1'000'000);
    if (::poll(&state, 1, std::clamp(left_ms, 1, 20)) > 0) return true;
  }
  return false;
}

}  // namespace

std::string innocent_connection::connect(std::uint64_t deadline, const std::atomic<bool>& stopped) {
  fd_ = start_connect(settings_.target);
  if (!fd_) return fmt::format("cannot connect: {}", std::strerror(errno));
  if (!wait_for(fd_, POLLOUT, deadline, stopped)) return "no connection in time";
  if (const int error = connect_error(fd_); error != 0) return fmt::format("cannot connect: {}", std::strerror(error));
  return "";
}

std::string innocent_connection::receive(const std::string& request, std::uint64_t deadline,
                                         const std::atomic<bool>& stopped) {
  std::string reply;
  auto state = reply_state::incomplete;
  while (wait_for(fd_, POLLIN, deadline, stopped)) {
    std::array<char, 65536> buffer;
    const ssize_t n = ::recv(fd_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (n < 0) return std::strerror(errno);
    if (n == 0) {
      fd_.reset();
      if (state == reply_state::until_end) return "";
      return reply.empty() ? "the server closed the connection without a reply"
                           : fmt::format("the server closed the connection after {} bytes of its reply", reply.size());
    }
    reply.append(buffer.data(), static_cast<std::size_t>(n));
    state = settings_.speaks->check_reply(reply, request);
    if (state == reply_state::last) fd_.reset();
    if (state == reply_state::complete || state == reply_state::last) return "";
    if (state == reply_state::wrong) return "a wrong reply";
  }
  return fmt::format("no reply within {} ms", settings_.bound.count());
}

std::string innocent_connection::ask(unsigned number, const std::atomic<bool>& stopped) {
  const std::uint64_t deadline = now_ns() + static_cast<std::uint64_t>(settings_.bound.count()) * 1'000'000;
  const std::string request = settings_.speaks->request(number);
  std::string wrong;
  char byte;
  // A server may close a connection after a reply. The next request then opens a new one.
  if (fd_ && ::recv(fd_.get(), &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0) fd_.reset();
  if (!fd_) wrong = connect(deadline, stopped);
  if (wrong.empty() && ::send(fd_.get(), request.data(), request.size(), MSG_NOSIGNAL | MSG_DONTWAIT) !=
                           static_cast<ssize_t>(request.size()))
    wrong = fmt::format("cannot send: {}", std::strerror(errno));
  if (wrong.empty()) wrong = receive(request, deadline, stopped);
  if (!wrong.empty() && fd_) close_with_reset(fd_);
  return wrong;
}

innocent_client::innocent_client(const attack_settings& s)
    : settings_(s),
      connections_{innocent_connection(s), innocent_connection(s), innocent_connection(s), innocent_connection(s)},
      thread_([this] { work(); }) {}

innocent_client::~innocent_client() { stopped_ = true; }

void innocent_client::work() {
  for (unsigned number = 0; !is_last_ && !stopped_; ++number) {
    const auto begun = now_ns();
    std::string wrong = connections_[number % connections_.size()].ask(number, stopped_);
    const auto now = now_ns();
    if (stopped_) return;  // the last request is abandoned
    if (wrong.empty()) {
      ++answered_;
      worst_ns_ = std::max(worst_ns_, now - begun);
    } else {
      if (++failed_ == 1) first_failure_ = std::move(wrong);
    }
    if (begun + interval_ns > now) sleep_until(begun + interval_ns);
  }
  has_ended_ = true;
}

void innocent_client::finish(findings& into) {
  for (is_last_ = true; !has_ended_; sleep_until(now_ns() + interval_ns / 4)) settings_.check();
  thread_.join();
  into.tell("answered", "requests of the innocent client that were answered", answered_);
  into.exactly("unanswered", fmt::format("its requests that were not, within {} ms each", settings_.bound.count()),
               failed_, 0);
  into.tell("worst_ms", "its longest wait for an answer", static_cast<double>(worst_ns_) / 1e6, "ms");
  if (!first_failure_.empty()) into.remark("the innocent client: " + first_failure_);
}

}  // namespace quintet::bench
