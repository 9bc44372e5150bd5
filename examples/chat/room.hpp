// SPDX-License-Identifier: BSL-1.0
// room: the list of guests, and the handler of one guest.
#pragma once

#include <quintet/base/rate_limit.hpp>
#include <quintet/net/handler.hpp>

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

namespace example::chat {

/// Limits of a guest. A line costs the server one send per guest, so both numbers are limited.
struct manners {
  std::size_t guests = 256;           ///< in the room; further ones are refused
  std::size_t lines_per_second = 5;   ///< of one guest; further lines are dropped
  std::size_t burst = 20;             ///< lines that a guest may send at once after a silence
  std::size_t idle_s = 3600;          ///< seconds without a line to or from a guest, until the connection is closed
  static constexpr int attempts = 3;  ///< to give a valid name
};

/// Shared by all connections, whose handlers may run on several threads. Keeps ids, not connections: a broadcast does
/// not reach an id whose connection has closed.
class room {
 public:
  explicit room(std::size_t most) : most_(most) {}
  /// Adds a connection. Returns false if the room is full.
  [[nodiscard]] bool enter(quintet::connection& c);
  void leave(quintet::connection_id who);
  /// Sends `line` to everybody except `from`.
  void say(quintet::connection& from, const std::string& line);
  [[nodiscard]] std::size_t size() const;

 private:
  const std::size_t most_;
  mutable std::mutex mutex_;
  std::vector<quintet::connection_id> present_;
};

/// The first line is the name; each later line is sent to all others. "/quit" closes the connection.
class guest {
 public:
  guest(room& r, const manners& m) noexcept;

  void on_open(quintet::connection& c);
  void operator()(quintet::connection& c, quintet::bytes line);
  void on_drain(quintet::connection& c);
  void on_close(quintet::connection& c, quintet::error_code why);

 private:
  bool is_too_fast(quintet::connection& c);
  void introduce(quintet::connection& c, std::string name);

  room* room_;
  std::chrono::seconds idle_;
  quintet::rate_limit lines_;
  bool warned_ = false;  // since the last accepted line
  int attempts_ = 0;
  std::string name_;  // empty: not in the room
};

}  // namespace example::chat
