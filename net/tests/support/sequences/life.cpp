// SPDX-License-Identifier: BSL-1.0
// life: reports of violated rules, and names.
#include "life.hpp"

#include <array>

namespace quintet::testing {

std::string to_string(flavour f) {
  constexpr std::array<const char*, flavours> names{"plain", "full", "classified", "coroutine"};
  return names.at(static_cast<std::size_t>(f));
}

// Keeps the first report only: later ones often follow from it.
void stage::report(const life& l, const std::string& what) {
  const std::lock_guard lock(mutex_);
  if (reported_.empty()) reported_ = "connection " + std::to_string(l.number) + " (" + to_string(l.kind) + "): " + what;
}

std::string stage::reported() const {
  const std::lock_guard lock(mutex_);
  return reported_;
}

}  // namespace quintet::testing
