// SPDX-License-Identifier: BSL-1.0
// accept_limits: validation.
#include "accept_limits.hpp"

#include "require.hpp"

namespace quintet {

void validate(const accept_limits& l) {
  constexpr unsigned fastest = 1'000'000;
  detail::require_value(l.accept_rate <= fastest, "accept_rate", l.accept_rate, "at most " + std::to_string(fastest));
  detail::require(l.accept_burst == 0 || l.accept_rate > 0, "accept_burst",
                  "is " + std::to_string(l.accept_burst) + "; it must be 0 if accept_rate is 0");
}

}  // namespace quintet
