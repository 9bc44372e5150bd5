// SPDX-License-Identifier: BSL-1.0
// loop_log: the log of what the functions of a loop throw, and how exceptions are logged.
#pragma once

#include "../../base/log.hpp"

#include <cstdint>
#include <string_view>

namespace quintet {

class event_loop;

/// The log of the functions that a loop calls for no connection: timers, and functions of executors. The loop knows the
/// hook of a server or client while connections that use executors are open on it. All functions: [loop].
class loop_log {
 public:
  explicit loop_log(event_loop&) noexcept {}
  /// A connection opens and closes, whose owner has this hook. Of several owners, the first one's hook is used.
  void add_user(const log_hook& hook) noexcept {
    if (!hook_) hook_ = &hook;
    if (hook_ == &hook) ++users_;
  }
  void remove_user(const log_hook& hook) noexcept {
    if (hook_ == &hook && --users_ == 0) hook_ = nullptr;
  }
  /// In a catch block: logs the current exception.
  void report_exception() const noexcept;

 private:
  const log_hook* hook_ = nullptr;
  std::uint32_t users_ = 0;  // of this hook
};

namespace detail {

/// [loop] In a catch block: counts and logs what a function threw that the loop has called for no connection.
void note_exception(event_loop& loop) noexcept;

/// [any thread] In a catch block: logs that `thrower` ("a handler") threw the current exception.
void report_exception(const log_hook& log, std::string_view thrower, std::string_view address = {}) noexcept;

}  // namespace detail
}  // namespace quintet
