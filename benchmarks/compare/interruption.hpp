// SPDX-License-Identifier: BSL-1.0
// interruption.hpp: Ctrl-C ends the measuring, not the program, which still shows and writes the results so far.
#pragma once

#include <signal.h>

#include <exception>

namespace quintet::bench {

// During its lifetime SIGINT and SIGTERM only set a flag. A second signal ends the program at once.
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

// Thrown by waits after an interruption.
struct interrupted : std::exception {
  const char* what() const noexcept override { return "interrupted"; }
};

}  // namespace quintet::bench
