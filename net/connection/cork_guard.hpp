// SPDX-License-Identifier: BSL-1.0
// cork_guard: holds back a connection's output while it lives.
#pragma once

#include <utility>

namespace quintet {

class connection;

/// Result of connection::cork(). [baton] It must not outlive its connection: use a local variable of a handler or
/// coroutine. If an exception destroys it, it sends nothing; the end of the batch decides.
class [[nodiscard]] cork_guard {
 public:
  cork_guard(cork_guard&& other) noexcept
      : connection_(std::exchange(other.connection_, nullptr)), exceptions_(other.exceptions_) {}
  cork_guard& operator=(cork_guard&&) = delete;
  ~cork_guard() {
    if (connection_) end();
  }

 private:
  friend class connection;
  explicit cork_guard(connection& of) noexcept;
  void end() const noexcept;

  connection* connection_;
  int exceptions_;  // in flight when it was made
};

}  // namespace quintet
