// SPDX-License-Identifier: BSL-1.0
// peer: a client whose connection may end at any moment. A wait that takes too long is an error of the server.
#pragma once

#include <quintet/base/build/sanitizers.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace quintet::test {

/// Every function that waits throws std::runtime_error after `peer_patience`.
inline constexpr std::chrono::seconds peer_patience{sanitized ? 30 : 5};

class peer {
 public:
  /// `give_up`: polled during a wait in receive; true ends the connection.
  explicit peer(std::uint16_t port, int receive_buffer = 0, std::function<bool()> give_up = {});
  peer(peer&& other) noexcept;
  peer& operator=(peer&&) = delete;
  ~peer();

  /// Returns false if the connection has ended.
  bool send(std::string_view data);
  /// Returns exactly `count` bytes; nothing if the stream ends before.
  std::optional<std::string> receive(std::size_t count);
  /// Returns the next line without its end; nothing if the stream ends before.
  std::optional<std::string> line();
  /// Receives as many bytes as `text` has, and throws if they differ. Returns false if the stream ends before.
  bool expect(std::string_view text);
  /// Sends the question, and expects the answer.
  bool ask(std::string_view question, std::string_view answer) { return send(question) && expect(answer); }
  /// Discards what arrives until the stream ends.
  void await_end();
  void finish_sending();
  void close();

  [[nodiscard]] bool alive() const noexcept { return fd_ >= 0; }

 private:
  bool receive_more(std::string_view wanted);

  int fd_ = -1;
  std::string buffer_;
  std::function<bool()> give_up_;
};

/// An echo server with a thread of its own. It uses nothing of the library, and its allocations do not fail.
class upstream_echo {
 public:
  upstream_echo();
  ~upstream_echo();
  upstream_echo(const upstream_echo&) = delete;
  upstream_echo& operator=(const upstream_echo&) = delete;
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

 private:
  struct state;
  void run();
  state* state_;
  std::uint16_t port_ = 0;
};

}  // namespace quintet::test
