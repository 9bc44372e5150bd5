// SPDX-License-Identifier: BSL-1.0
// peer: a client whose connection may end at any moment; waits that take too long are an error of the server.
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
  /// `give_up`: looked at while it waits; true ends the connection.
  explicit peer(std::uint16_t port, int receive_buffer = 0, std::function<bool()> give_up = {});
  peer(peer&& other) noexcept;
  peer& operator=(peer&&) = delete;
  ~peer();

  /// False: the connection has ended.
  bool send(std::string_view data);
  /// Exactly so many bytes; nothing when the stream has ended before.
  std::optional<std::string> receive(std::size_t count);
  /// Up to the next line end, without that.
  std::optional<std::string> line();
  /// Receives as many bytes as `text` has; throws if they are others. False: the stream has ended before.
  bool expect(std::string_view text);
  /// Sends, and expects the answer.
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

/// Echoes on a thread of its own, without a part of the library and without an allocation that fails.
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
