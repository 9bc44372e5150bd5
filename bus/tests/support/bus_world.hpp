// SPDX-License-Identifier: BSL-1.0
// bus_world: nodes of a bus that a test drives by hand, on one thread, and what they have received.
#pragma once

#include <quintet/bus/bus_node.hpp>
#include <quintet/net/event_loop.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace quintet {

inline std::ostream& operator<<(std::ostream& out, bus_route r) { return out << to_string(r); }
inline std::ostream& operator<<(std::ostream& out, bus_restart_policy p) {
  return out << (p == bus_restart_policy::fail ? "fail" : "send_again");
}

}  // namespace quintet

namespace quintet::test {

/// Returns an abstract Unix address that no other test uses.
inline std::string fresh_bus_address() {
  static int count = 0;
  return "unix:@bus-test-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
}

/// A node that notes what happens to it.
struct noting_node {
  struct received {
    std::uint64_t source;
    std::string payload;
    bool operator==(const received&) const = default;
  };
  explicit noting_node(bus_options o) : node(with_notes(std::move(o))) { node.start(); }
  ~noting_node() {
    if (!is_finished) finish();
  }
  noting_node(const noting_node&) = delete;
  noting_node& operator=(const noting_node&) = delete;

  void finish() {
    is_finished = true;
    node.stop();
    while (!node.loop().finished()) node.loop().poll();
    node.finish();
  }

  std::vector<received> messages;
  std::vector<std::optional<bus_route>> routes;
  std::size_t rooms = 0;
  bool keeps = true;  // the messages; otherwise only counts them
  std::uint64_t count = 0;
  std::function<void(const bus_message&)> on_message;
  bool is_finished = false;
  bus_node node;

 private:
  bus_options with_notes(bus_options o) {
    o.on_messages = [this](std::span<const bus_message> all) {
      for (const bus_message& m : all) {
        ++count;
        if (keeps) messages.push_back({m.source, std::string(m.payload)});
        if (on_message) on_message(m);
      }
    };
    o.on_route = [this](std::uint64_t, std::optional<bus_route> r) { routes.push_back(r); };
    o.on_room = [this](std::uint64_t) { ++rooms; };
    o.reconnect.base = std::chrono::milliseconds(2);
    o.reconnect.cap = std::chrono::milliseconds(20);
    o.upgrade_interval = std::chrono::milliseconds(5);
    return o;
  }
};

/// Drives the nodes in turn until the condition holds. Returns false if it does not within a minute.
template <class Condition>
bool drive_until(const std::vector<noting_node*>& nodes, Condition holds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!holds()) {
    for (noting_node* n : nodes)
      if (!n->is_finished) n->node.loop().poll();
    if (std::chrono::steady_clock::now() > deadline) return false;
  }
  return true;
}

/// A node in a child process, which ends with this object. The calling process must have one thread.
class forked_node {
 public:
  /// The child calls make(), which returns the node's options, and begin(node), and runs the node.
  template <class F, class Begin = void (*)(bus_node&)>
  explicit forked_node(F make, Begin begin = [](bus_node&) {}) : pid_(::fork()) {
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (is_address_in_use(make, begin)) std::this_thread::yield();
    ::_exit(0);
  }
  ~forked_node() { kill(); }
  forked_node(const forked_node&) = delete;
  forked_node& operator=(const forked_node&) = delete;
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  void kill() noexcept {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, 0), nullptr, 0);
  }

 private:
  // The kernel may still be closing a predecessor's sockets, of an io_uring for example.
  template <class F, class Begin>
  static bool is_address_in_use(F& make, Begin& begin) {
    try {
      bus_node node(make());
      begin(node);
      node.run();
    } catch (const boost::system::system_error& e) {
      if (e.code() == boost::system::errc::address_in_use) return true;
      ::_exit(1);
    } catch (...) {
      ::_exit(1);
    }
    return false;
  }

  pid_t pid_;
};

/// Returns a message that says which it is, of a length that depends on it.
inline std::string numbered(std::uint64_t n) {
  std::string text = std::to_string(n) + ':';
  text.append(n * 7 % 300, static_cast<char>('a' + n % 26));
  return text;
}
inline std::uint64_t number_of(bytes text) { return std::stoull(std::string(text.substr(0, text.find(':')))); }

/// Checks a stream of numbered() messages: none is missing, twice there, out of order or changed.
struct numbered_stream {
  std::uint64_t next = 0, wrong = 0;
  void operator()(const bus_message& m) {
    if (m.payload == numbered(next))
      ++next;
    else
      ++wrong;
  }
};

}  // namespace quintet::test
