// SPDX-License-Identifier: BSL-1.0
// peers: blocking sockets at both sides of a program under test, independent of the library's connections.
#pragma once

#include <quintet/net/file_descriptor.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace example::test {

/// Throws std::runtime_error after a minute without progress.
class peer {
 public:
  explicit peer(quintet::file_descriptor fd);
  static peer connected_to(std::uint16_t port);

  /// Sends all of `data`. Returns false if the other side has closed. Calls `overflow_policy` before each wait for
  /// room.
  bool send(std::string_view data, const std::function<void()>& overflow_policy = {});
  /// Receives at most `most` bytes; none at the end of the stream.
  std::string receive_some(std::size_t most);
  /// Receives `count` bytes; fewer if the stream ends.
  std::string receive(std::size_t count);
  std::string receive_rest();
  void finish_sending();
  /// Waits for a reset, without reading.
  void await_reset() const;
  /// Returns this side's port.
  [[nodiscard]] std::uint16_t port() const;

 private:
  quintet::file_descriptor fd_;
};

class listening {
 public:
  /// Listens on 127.0.0.1, on a port that the system picks.
  listening();
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  peer accept();
  /// Stops listening.
  void close() { fd_.reset(); }

 private:
  quintet::file_descriptor fd_;
  std::uint16_t port_ = 0;
};

}  // namespace example::test
