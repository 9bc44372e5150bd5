// SPDX-License-Identifier: BSL-1.0
// attack.cpp: hostile peers and one attack: the innocent client alone, beside the peers, and after them.
#include "stress/attack.hpp"

#include "compare/child_process.hpp"
#include "load/connect.hpp"
#include "load/epoll_set.hpp"
#include "stress/innocent.hpp"
#include "stress/peers.hpp"

#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <vector>

namespace quintet::bench {

struct hostile_peer {
  unique_fd fd;
  std::uint32_t number = 0;  ///< number of the visit
  bool is_connected = false;
  std::uint64_t acts_at = never_ns;
  std::size_t sent = 0;
};

namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t look_around_ns = 5'000'000;
constexpr std::size_t most_bytes_each = 8U << 20U;  ///< sent by one peer in one visit
constexpr int small_buffer = 4096;
constexpr auto recovery = 5s;  ///< time that a server may take to recover after an attack

/// Sends what the socket takes at once and drops the rest.
void send_some(hostile_peer& p, std::string_view bytes) {
  const ssize_t n = ::send(p.fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n > 0) p.sent += static_cast<std::size_t>(n);
}

bool reset(hostile_peer& p, const dialect& d) {
  if (p.number % 2 == 0) send_some(p, d.request(p.number));  // so that the reset comes before, in or after a reply
  return false;
}
bool be_silent(hostile_peer&, const dialect&) { return true; }
bool send_half(hostile_peer& p, const dialect& d) {
  const std::string request = d.request(p.number);
  send_some(p, std::string_view(request).substr(0, request.size() / 2));
  return true;
}
/// Sends the beginning at the first call and a byte at each later call.
bool send_slowly(hostile_peer& p, const dialect& d) {
  const std::string beginning = d.unfinished_request(p.number);
  send_some(p, p.sent < beginning.size() ? std::string_view(beginning).substr(p.sent) : "x");
  return true;
}
bool ask_and_never_read(hostile_peer& p, const dialect& d) {
  ::setsockopt(p.fd.get(), SOL_SOCKET, SO_RCVBUF, &small_buffer, sizeof small_buffer);
  const std::string request = d.large_request();
  // A partial request continues at the next call.
  for (std::size_t before = p.sent; p.sent < most_bytes_each; before = p.sent) {
    send_some(p, std::string_view(request).substr(p.sent % request.size()));
    if (p.sent == before) break;
  }
  return true;
}
bool ask(hostile_peer& p, const dialect& d) {
  send_some(p, d.request(p.number));
  return true;
}
bool send_garbage(hostile_peer& p, const dialect&) {
  std::string garbage(4096, '\0');
  std::uint32_t state = p.number * 2654435761U + 1;
  for (char& c : garbage) c = static_cast<char>((state = state * 1664525U + 1013904223U) >> 24U);
  send_some(p, garbage);
  return p.number % 2 == 0;
}

/// All peers of one attack, run by the caller's thread.
class hostile_peer_group {
 public:
  hostile_peer_group(const attack& a, const attack_settings& s, unsigned peers)
      : attack_(a), settings_(s), peers_(peers), most_visits_(std::uint64_t{peers} * max_connections_per_peer) {}

  ~hostile_peer_group() {
    for (hostile_peer& p : peers_)
      if (p.fd) close_with_reset(p.fd);
  }
  hostile_peer_group(const hostile_peer_group&) = delete;
  hostile_peer_group& operator=(const hostile_peer_group&) = delete;

  void stay() {
    const auto end = now_ns() + static_cast<std::uint64_t>(settings_.window.count());
    for (auto now = now_ns(); now < end; now = now_ns()) {
      settings_.check();
      come();
      for (const epoll_event& e : ready_.wait(std::min(look_around_ns, end - now))) look_at(e.data.u32);
      for (hostile_peer& p : peers_)
        if (p.acts_at <= now) act(p);
    }
  }

  void tell(findings& into) const {
    into.tell("visits", "connections that the hostile peers have begun", static_cast<double>(visits_));
    into.tell("refused", "of them refused", static_cast<double>(refused_));
    into.tell("closed", "of them closed by the server", static_cast<double>(closed_));
  }

 private:
  // Fills empty places, only some at a time: a listener has a backlog, and a dropped SYN costs a second.
  void come() {
    for (std::uint32_t i = 0; i < peers_.size() && connecting_ < most_connecting && visits_ < most_visits_; ++i) {
      hostile_peer& p = peers_[i];
      if (p.fd) continue;
      p = {.fd = start_connect(settings_.target, is_loopback_v4(settings_.target) ? source_of(visits_) : 0),
           .number = static_cast<std::uint32_t>(visits_)};
      ++visits_;
      if (!p.fd) {
        ++refused_;
        return;
      }
      ++connecting_;
      ready_.add(p.fd.get(), EPOLLOUT, i);
    }
  }

  void look_at(std::uint32_t index) {
    hostile_peer& p = peers_[index];
    if (!p.is_connected) {
      --connecting_;
      if (connect_error(p.fd) != 0) {
        ++refused_;
        return p.fd.reset();
      }
      p.is_connected = true;
      // A reset is reported even without EPOLLIN.
      ready_.modify(p.fd.get(), attack_.reads ? std::uint32_t{EPOLLIN} : 0U, index);
      return act(p);
    }
    std::array<char, 65536> buffer;
    const ssize_t n = attack_.reads ? ::recv(p.fd.get(), buffer.data(), buffer.size(), MSG_DONTWAIT) : 0;
    if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR))) return;
    ++closed_;
    leave(p);
  }

  void act(hostile_peer& p) {
    p.acts_at = attack_.interval > 0ms
                    ? now_ns() + static_cast<std::uint64_t>(std::chrono::nanoseconds(attack_.interval).count())
                    : never_ns;
    if (!attack_.act(p, *settings_.speaks)) leave(p);
  }

  static void leave(hostile_peer& p) {
    close_with_reset(p.fd);
    p = {};
  }

  const attack& attack_;
  const attack_settings& settings_;
  epoll_set ready_;
  std::vector<hostile_peer> peers_;
  unsigned connecting_ = 0;
  std::uint64_t visits_ = 0, refused_ = 0, closed_ = 0;
  const std::uint64_t most_visits_;
};

/// Waits until `done` returns true, at most for `length`.
void wait_until(const attack_settings& s, std::chrono::nanoseconds length, const std::function<bool()>& done) {
  const auto end = now_ns() + static_cast<std::uint64_t>(length.count());
  while (now_ns() < end && !done()) {
    s.check();
    sleep_until(now_ns() + look_around_ns);
  }
}

/// Returns the time until a new client gets a reply within the bound. Gives up after `recovery` and returns NaN.
double time_of_recovery_ms(const attack_settings& s) {
  const std::atomic<bool> never{false};
  const auto begun = now_ns();
  const auto end = begun + static_cast<std::uint64_t>(std::chrono::nanoseconds(recovery).count());
  for (unsigned number = 0; now_ns() < end; ++number) {
    s.check();
    const auto tried = now_ns();
    innocent_connection client(s);
    if (client.ask(number, never).empty()) return static_cast<double>(now_ns() - begun) / 1e6;
    sleep_until(tried + 4 * look_around_ns);
  }
  return std::nan("");
}

}  // namespace

const std::array<attack, 7> attacks{{
    {"resets", "connect and reset the connection, half of them after a request", 200, false, 0ms, reset},
    {"silence", "connect and say nothing", 500, true, 0ms, be_silent},
    {"half-requests", "send half of a request and no more", 500, true, 0ms, send_half},
    {"slow-writers", "send the beginning of a request, and then a byte every 100 ms that does not end it", 500, true,
     100ms, send_slowly},
    {"non-readers", "ask for as much as the server takes, and never read", 50, false, 10ms, ask_and_never_read},
    {"flood", "come all at once, each with a request, and stay", 2000, true, 0ms, ask},
    {"garbage", "send 4 KiB that mean nothing, every second one with a reset behind", 100, true, 50ms, send_garbage},
}};

const attack& require_attack(std::string_view name) {
  std::string names;
  for (const attack& a : attacks) {
    if (a.name == name) return a;
    names += std::string(names.empty() ? "" : ", ") + std::string(a.name);
  }
  throw usage_error(fmt::format("\"{}\" is not an attack on --server; it must be one of: {}, or all", name, names));
}

socket_address require_target(const std::string& where, bool allow_remote) {
  socket_address target;
  try {
    target = resolve(parse_endpoint(where));
  } catch (const std::runtime_error& e) {
    throw usage_error(std::string("--server: ") + e.what());
  }
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(target.get());
  const bool is_loopback =
      target.get()->sa_family == AF_INET6 ? IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr) != 0 : is_loopback_v4(target);
  if (!is_loopback && !allow_remote)
    throw usage_error("--server: " + where +
                      " is not a loopback address of this machine; attack another machine only if it is yours, with "
                      "--allow-remote");
  return target;
}

findings perform(const attack& a, const attack_settings& s) {
  findings found;
  innocent_client innocent(s);
  wait_until(s, 2 * s.bound, [&] { return innocent.answered() >= 8 || innocent.failed() > 0; });
  if (innocent.failed() == 0) {
    hostile_peer_group peers(a, s, s.peers.value_or(a.default_peers));
    peers.stay();
    peers.tell(found);
    innocent.finish(found);  // the peers stay until the innocent client has its last reply
  } else {
    found.fail("the server does not answer, even before the attack");
    innocent.finish(found);
  }
  const double after = found.passed() || innocent.answered() > 0 ? time_of_recovery_ms(s) : std::nan("");
  found.at_most("recovery_ms", "time from the end of the attack until a new client is answered", after,
                std::chrono::duration<double, std::milli>(recovery + s.bound).count(), "ms");
  return found;
}

}  // namespace quintet::bench
