// SPDX-License-Identifier: BSL-1.0
// interruption.hpp: Ctrl-C ends the measuring, not the program: what was measured is still shown and written.
#pragma once

#include <signal.h>

#include <exception>

namespace quintet::bench {

// While it lives, SIGINT and SIGTERM only set a flag. A second one ends the program at once.
class interruption_guard {
 public:
  interruption_guard();
  ~interruption_guard();
  interruption_guard(const interruption_guard&) = delete;
  interruption_guard& operator=(const interruption_guard&) = delete;
  static bool happened() noexcept;

 private:
  struct sigaction before_int_{};
  struct sigaction before_term_{};
};

// Thrown by whatever was waiting.
struct interrupted : std::exception {
  const char* what() const noexcept override { return "interrupted"; }
};

}  // namespace quintet::bench
