// SPDX-License-Identifier: BSL-1.0
// raw_bus_peer: a peer of a node that is only a socket: it says what a test writes.
#pragma once

#include "../../../net/tests/support/sockets.hpp"
#include "bus_world.hpp"

#include <quintet/bus/messages/frames.hpp>
#include <quintet/net/file_descriptor.hpp>

#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <sys/socket.h>

namespace quintet::test {

inline std::string message_frame(std::uint32_t sequence, bytes payload) {
  std::string f(bus::prefix_size + bus::header_size, '\0');
  f += payload;
  bus::seal(f.data(), {bus::frame_type::message, 0, 0, sequence}, payload.size());
  return f;
}
inline std::string control(bus::frame_type type, std::uint64_t number, std::uint8_t flags = 0) {
  return std::string(bus::encode(type, number, flags).data());
}
/// Returns a hello that node 9 may send to node 1.
inline bus::hello usual_hello(std::uint64_t epoch = 7) {
  return {.id = 9,
          .target = 1,
          .epoch = epoch,
          .known_epoch = 0,
          .received = 0,
          .max_message = 64 * 1024,
          .route = bus_route::tcp,
          .is_pinned = false};
}
inline std::string text(const bus::hello& h) { return std::string(bus::encode(h).data()); }
inline std::string hello_frame(std::uint64_t id, std::uint64_t target, std::uint64_t epoch = 7) {
  bus::hello h = usual_hello(epoch);
  h.id = id;
  h.target = target;
  return text(h);
}
inline const std::string greeting = hello_frame(9, 1) + control(bus::frame_type::start, 1);

inline std::string damaged(std::string frame) {
  frame.back() = static_cast<char>(frame.back() ^ 4);
  return frame;
}

/// The peer's end of a connection.
struct raw_connection {
  file_descriptor fd;
  std::string received;
  bool is_closed = false;

  void send(bytes data) const { (void)::send(fd.get(), data.data(), data.size(), MSG_NOSIGNAL); }
  void receive() {
    std::array<char, 4096> place{};
    const ssize_t n = ::recv(fd.get(), place.data(), place.size(), MSG_DONTWAIT);
    if (n > 0) received.append(place.data(), static_cast<std::size_t>(n));
    if (n == 0 || (n < 0 && errno != EAGAIN)) is_closed = true;
  }
  [[nodiscard]] bool has(bytes what) const { return received.find(what) != std::string::npos; }
  /// Returns how often it was received.
  [[nodiscard]] std::size_t count(bytes what) const {
    std::size_t n = 0;
    for (std::size_t at = 0; (at = received.find(what, at)) != std::string::npos; at += what.size()) ++n;
    return n;
  }
  /// Returns the node's hello, if it is the first that was received.
  [[nodiscard]] std::optional<bus::hello> hello() const {
    constexpr std::size_t before = bus::prefix_size + bus::header_size;
    if (received.size() < before + bus::hello_size) return std::nullopt;
    return bus::decode_hello(bytes(received).substr(before, bus::hello_size));
  }
};

/// A listener that accepts when the test does.
class raw_listener {
 public:
  raw_listener() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    const int on = 1;
    if (::setsockopt(fd_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        ::bind(fd_.get(), port_.at().data(), port_.at().size()) != 0 || ::listen(fd_.get(), 8) != 0)
      throw std::runtime_error("cannot listen");
  }
  [[nodiscard]] std::string text() const { return "tcp:" + port_.text(); }
  /// Returns a connection without a descriptor if none waits.
  [[nodiscard]] raw_connection accept() const {
    return {file_descriptor(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC)), {}, false};
  }

 private:
  testing::own_address port_;
  file_descriptor fd_;
};

/// A node at a TCP port, and a peer without one: a socket. The node is number 1 unless the options say otherwise.
struct raw_world : raw_connection {
  explicit raw_world(bus_options o = {}) : node(with_address(std::move(o))) {}
  static bus_options with_address(bus_options o) {
    if (o.id == 0) o.id = 1;
    o.listen = {"tcp:127.0.0.1:0"};
    return o;
  }
  void connect() { static_cast<raw_connection&>(*this) = another(); }
  [[nodiscard]] raw_connection another() const {
    return {testing::connected_to(address(node.node.addresses().at(0).substr(4))), {}, false};
  }
  /// Drives the node and receives on both connections.
  template <class Condition>
  bool until(raw_connection& second, Condition holds) {
    return drive_until({&node}, [&] {
      receive();
      second.receive();
      return holds();
    });
  }
  template <class Condition>
  bool until(Condition holds) {
    return until(*this, holds);
  }
  bool until_closed() {
    return until([&] { return is_closed; });
  }

  noting_node node;
};

}  // namespace quintet::test
