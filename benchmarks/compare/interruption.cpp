// SPDX-License-Identifier: BSL-1.0
// interruption.cpp: Ctrl-C as a flag.
#include "compare/interruption.hpp"

namespace quintet::bench {
namespace {

volatile sig_atomic_t flag = 0;

void on_signal(int) { flag = 1; }

}  // namespace

interruption_guard::interruption_guard() {
  flag = 0;
  struct sigaction action{};
  action.sa_handler = on_signal;
  // No SA_RESTART: a wait must end. SA_RESETHAND: if the program hangs, the second Ctrl-C still works.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGINT, &action, &before_int_);
  ::sigaction(SIGTERM, &action, &before_term_);
}

interruption_guard::~interruption_guard() {
  ::sigaction(SIGINT, &before_int_, nullptr);
  ::sigaction(SIGTERM, &before_term_, nullptr);
}

bool interruption_guard::happened() noexcept { return flag != 0; }

}  // namespace quintet::bench
