// SPDX-License-Identifier: BSL-1.0
// log: formats events, and calls the hook.
#include "log.hpp"

namespace quintet {

std::string to_string(const log_event& event) {
  std::string line(event.address);
  if (!line.empty() && !event.what.empty()) line += ": ";
  line += event.what;
  if (event.reason.failed()) {
    if (!line.empty()) line += ": ";
    line += event.reason.message();
  }
  return line;
}

void report(const log_hook& hook, const log_event& event) noexcept {
  if (!hook) return;
  try {
    hook(event);
  } catch (...) {
    // There is nobody left to tell.
  }
}

}  // namespace quintet
