// SPDX-License-Identifier: BSL-1.0
// peers: blocking sockets at both sides of a program under test. They know nothing of the library.
#pragma once

#include <quintet/net/file_descriptor.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace example::test {

/// Throws std::runtime_error when nothing happens for a minute.
class peer {
 public:
  explicit peer(quintet::file_descriptor fd);
  static peer connected_to(std::uint16_t port);

  /// False: the other side has closed. `overflow_policy`: before it waits for room.
  bool send(std::string_view data, const std::function<void()>& overflow_policy = {});
  /// Up to so many bytes; nothing at the end of the stream.
  std::string receive_some(std::size_t most);
  /// Fewer when the stream ends before.
  std::string receive(std::size_t count);
  std::string receive_rest();
  void finish_sending();
  /// Waits for a reset, without reading.
  void await_reset() const;
  /// 127.0.0.1's port of this side.
  [[nodiscard]] std::uint16_t port() const;

 private:
  quintet::file_descriptor fd_;
};

class listening {
 public:
  /// On 127.0.0.1.
  listening();
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  peer accept();
  /// Nobody answers there any more.
  void close() { fd_.reset(); }

 private:
  quintet::file_descriptor fd_;
  std::uint16_t port_ = 0;
};

}  // namespace example::test
