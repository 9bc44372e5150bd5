// SPDX-License-Identifier: BSL-1.0
// attack_test.cpp: attacks tell a server that keeps serving from servers that one peer can stop.
#include "stress/attack.hpp"

#include "loopback_listener.hpp"
#include "stress/dialect.hpp"
#include "unique_fd.hpp"

#include <boost/test/unit_test.hpp>

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <string>
#include <thread>
#include <vector>

namespace quintet::bench {
namespace {

using namespace std::chrono_literals;

/// An echo in one thread, which is right as long as everybody reads. `blocks`: it waits until a peer has taken its
/// reply.
class poll_echo {
 public:
  explicit poll_echo(bool blocks) : blocks_(blocks), thread_([this] { work(); }) {}
  ~poll_echo() { stopped_ = true; }
  poll_echo(const poll_echo&) = delete;
  poll_echo& operator=(const poll_echo&) = delete;

  [[nodiscard]] const std::string& at() const { return listener_.at(); }

 private:
  void work() {
    while (!stopped_) {
      std::vector<pollfd> states{{.fd = listener_.fd(), .events = POLLIN, .revents = 0}};
      for (const unique_fd& c : clients_) states.push_back({.fd = c.get(), .events = POLLIN, .revents = 0});
      if (::poll(states.data(), states.size(), 10) <= 0) continue;
      for (std::size_t i = 1; i < states.size(); ++i)
        if (states[i].revents != 0 && !serve(clients_[i - 1])) clients_[i - 1].reset();
      std::erase_if(clients_, [](const unique_fd& c) { return !c; });
      if (states[0].revents == 0) continue;
      clients_.emplace_back(::accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC));
      const int small = 16384;  // of replies that nobody reads: soon full, also on a busy machine
      ::setsockopt(clients_.back().get(), SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    }
  }
  bool serve(const unique_fd& client) {
    std::array<char, 65536> buffer;
    ssize_t n = ::recv(client.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (n <= 0) return n < 0 && errno == EAGAIN;
    for (ssize_t sent = 0; sent < n;) {
      const ssize_t m =
          ::send(client.get(), buffer.data() + sent, static_cast<std::size_t>(n - sent), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (m < 0 && !(blocks_ && errno == EAGAIN && !stopped_)) return false;  // who does not read is closed
      if (m < 0) std::this_thread::yield();
      sent += std::max<ssize_t>(m, 0);
    }
    return true;
  }

  const loopback_listener listener_;
  const bool blocks_;
  std::atomic<bool> stopped_{false};
  std::vector<unique_fd> clients_;
  std::jthread thread_;
};

findings attacked(const std::string& server, const char* name) {
  attack_settings s;
  s.server = server;
  s.target = require_target(server, false);
  s.speaks = parse_dialect("echo");
  s.peers = 20;
  s.bound = 2s;
  s.window = 4s;
  return perform(require_attack(name), s);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_server_that_one_peer_can_stop_fails) {
  const poll_echo bad(true);
  const findings stuck = attacked(bad.at(), "non-readers");
  BOOST_TEST(!stuck.passed());
  BOOST_TEST(stuck.text().find("no reply within 2000 ms") != std::string::npos, stuck.text());
}

BOOST_AUTO_TEST_CASE(the_same_server_passes_where_it_closes_who_does_not_read) {
  const poll_echo good(false);
  const findings served = attacked(good.at(), "non-readers");
  BOOST_TEST(served.passed(), served.text());
}

BOOST_AUTO_TEST_CASE(a_server_that_accepts_and_never_answers_fails_before_the_attack) {
  const loopback_listener listener;
  const findings silent = attacked(listener.at(), "silence");
  BOOST_TEST(!silent.passed());
  BOOST_TEST(silent.text().find("even before the attack") != std::string::npos, silent.text());
}

BOOST_AUTO_TEST_CASE(only_the_loopback_interface_unless_it_is_allowed) {
  BOOST_CHECK_THROW(require_target("192.0.2.1:80", false), usage_error);
  BOOST_CHECK_THROW(require_target("[2001:db8::1]:80", false), usage_error);
  BOOST_CHECK_NO_THROW(require_target("192.0.2.1:80", true));
  BOOST_CHECK_NO_THROW(require_target("127.1.2.3:80", false));
  BOOST_CHECK_NO_THROW(require_target("[::1]:80", false));
  BOOST_CHECK_THROW(require_target("127.0.0.1", true), usage_error);
}

}  // namespace quintet::bench
