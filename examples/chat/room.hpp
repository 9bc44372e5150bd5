// SPDX-License-Identifier: BSL-1.0
// room: who is in it, and what is said to all of them.
#pragma once

#include <quintet/base/rate_limit.hpp>
#include <quintet/net/handler.hpp>

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

namespace example::chat {

/// What a guest may do. A line costs the server as many sends as there are guests, so both numbers have a limit.
struct manners {
  std::size_t guests = 256;           ///< in the room; one more is turned away
  std::size_t lines_per_second = 5;   ///< of one guest; the room does not hear what exceeds them
  std::size_t burst = 20;             ///< lines that a guest may say at once after a silence
  std::size_t idle_s = 3600;          ///< seconds without a line to or from a guest, until the guest is sent away
  static constexpr int attempts = 3;  ///< at a name
};

/// Shared by all connections, in whatever thread their handlers run. It keeps ids, not connections: one that has closed
/// is simply not reached any more.
class room {
 public:
  explicit room(std::size_t most) : most_(most) {}
  /// False: it is full.
  [[nodiscard]] bool enter(quintet::connection& c);
  void leave(quintet::connection_id who);
  /// To everybody but the one who says it.
  void say(quintet::connection& from, const std::string& line);
  [[nodiscard]] std::size_t size() const;

 private:
  const std::size_t most_;
  mutable std::mutex mutex_;
  std::vector<quintet::connection_id> present_;
};

/// A line is said to all others; the first line is the name. "/quit" leaves.
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
  bool warned_ = false;  // since the guest was too fast
  int attempts_ = 0;
  std::string name_;  // empty: not in the room
};

}  // namespace example::chat
