// SPDX-License-Identifier: BSL-1.0
// cork_guard: while it lives, what is written stays together.
#pragma once

#include <utility>

namespace quintet {

class connection;

/// What connection::cork() returns. [baton] all of it, and no longer than its connection lives: a local variable of a
/// handler or coroutine, as a rule. Left by an exception it sends nothing: that is the end of the batch's affair.
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
  int exceptions_;  // that were under way when it was made
};

}  // namespace quintet
