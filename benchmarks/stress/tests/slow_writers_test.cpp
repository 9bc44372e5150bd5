// SPDX-License-Identifier: BSL-1.0
// slow_writers_test.cpp: a server never sees a whole request of a peer of the attack slow-writers.
#include "stress/attack.hpp"

#include "loopback_listener.hpp"
#include "stress/dialect.hpp"

#include <boost/test/unit_test.hpp>

#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace quintet::bench {
namespace {

using namespace std::chrono_literals;

/// Reply to the first request in `received`. Empty: the request is not whole.
using answer_function = std::function<std::string(std::string_view received)>;

/// Answers one request after another of each client, and records what it has received. Closes nobody.
class recording_server {
 public:
  struct client {
    unique_fd fd;
    std::string received;  ///< since the last reply
    std::size_t replies = 0;
  };

  explicit recording_server(answer_function answer) : answer_(std::move(answer)), thread_([this] { work(); }) {}
  ~recording_server() { stopped_ = true; }
  recording_server(const recording_server&) = delete;
  recording_server& operator=(const recording_server&) = delete;

  [[nodiscard]] const std::string& at() const { return listener_.at(); }
  /// Stops the server.
  const std::vector<client>& stop() {
    stopped_ = true;
    thread_.join();
    return clients_;
  }

 private:
  void work() {
    while (!stopped_) {
      std::vector<pollfd> states{{.fd = listener_.fd(), .events = POLLIN, .revents = 0}};
      for (const client& c : clients_) states.push_back({.fd = c.fd.get(), .events = POLLIN, .revents = 0});
      if (::poll(states.data(), states.size(), 10) <= 0) continue;
      for (std::size_t i = 1; i < states.size(); ++i)
        if (states[i].revents != 0) serve(clients_[i - 1]);
      if (states[0].revents == 0) continue;
      clients_.push_back({.fd = unique_fd(::accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC)), .received = {}});
    }
  }
  void serve(client& c) {
    std::array<char, 4096> buffer;
    const ssize_t n = ::recv(c.fd.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (n <= 0) return c.fd.reset();  // poll() ignores it from now on
    c.received.append(buffer.data(), static_cast<std::size_t>(n));
    const std::string reply = answer_(c.received);
    if (reply.empty()) return;
    ++c.replies;
    c.received.clear();
    (void)::send(c.fd.get(), reply.data(), reply.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  const loopback_listener listener_;
  const answer_function answer_;
  std::vector<client> clients_;
  std::atomic<bool> stopped_{false};
  std::jthread thread_;
};

/// As tolerant as a server may be: a line feed alone ends a line, too.
std::string answer_http(std::string_view received) {
  const bool is_whole = received.find("\n\n") != received.npos || received.find("\n\r\n") != received.npos;
  return is_whole ? "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" : "";
}

/// Refuses what is not the beginning of a command.
std::string answer_resp(std::string_view received) {
  if (!std::string_view("*1\r\n$4\r\nPING\r\n").starts_with(received) &&
      !std::string_view("*2\r\n$4\r\nECHO\r\n$").starts_with(received.substr(0, 15)))
    return "-ERR Protocol error\r\n";
  if (received.starts_with("*1")) return received.size() == 14 ? "+PONG\r\n" : "";
  if (received.size() < 15) return "";
  std::size_t size = 0;
  const auto [end, error] = std::from_chars(received.data() + 15, received.data() + received.size(), size);
  if (end == received.data() + received.size()) return "";
  if (error != std::errc()) return "-ERR Protocol error: invalid bulk length\r\n";
  const std::string_view bulk = received.substr(14);
  const std::size_t wanted = static_cast<std::size_t>(end - bulk.data()) + 2 + size + 2;
  return bulk.size() < wanted ? "" : std::string(bulk.substr(0, wanted));
}

/// 120 peers attack a server that speaks `protocol`: all send bytes, and the server answers none of them.
void check_attack(const char* protocol, const answer_function& answer) {
  recording_server server(answer);
  attack_settings s;
  s.server = server.at();
  s.target = require_target(s.server, false);
  s.speaks = parse_dialect(protocol);
  s.peers = 120;  // among them numbers of one, two and three digits
  s.bound = 2s;
  s.window = 5s;
  const findings found = perform(require_attack("slow-writers"), s);
  BOOST_TEST(found.passed(), found.text());
  const auto& clients = server.stop();
  const auto is_unanswered = [](const auto& c) { return c.replies == 0 && !c.received.empty(); };
  BOOST_TEST(std::ranges::count_if(clients, is_unanswered) == 120);
  const auto is_slow = [&](const auto& c) { return is_unanswered(c) && c.received.ends_with("xxxxxxxxxx"); };
  BOOST_TEST(std::ranges::count_if(clients, is_slow) == 120);
}

}  // namespace

BOOST_AUTO_TEST_CASE(no_request_of_a_slow_writer_over_http_is_ever_whole) { check_attack("http", answer_http); }
BOOST_AUTO_TEST_CASE(no_request_of_a_slow_writer_over_resp_is_ever_whole) { check_attack("resp", answer_resp); }

}  // namespace quintet::bench
