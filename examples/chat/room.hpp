// SPDX-License-Identifier: BSL-1.0
// room: who is in it, and what is said to all of them.
#pragma once

#include <quintet/net/handler.hpp>

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

namespace example::chat {

/// Shared by all connections, in whatever thread their handlers run. It keeps ids, not connections: one that has closed
/// is simply not reached any more.
class room {
 public:
  void enter(quintet::connection& c);
  void leave(quintet::connection_id who);
  /// To everybody but the one who says it.
  void say(quintet::connection& from, const std::string& line);
  [[nodiscard]] std::size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::vector<quintet::connection_id> present_;
};

/// A line is said to all others; the first line is the name. "/quit" leaves.
class guest {
 public:
  explicit guest(room& r) noexcept : room_(&r) {}

  void on_open(quintet::connection& c);
  void operator()(quintet::connection& c, quintet::bytes line);
  void on_drain(quintet::connection& c);
  void on_close(quintet::connection& c, quintet::error_code why);

 private:
  room* room_;
  std::string name_;
};

}  // namespace example::chat
