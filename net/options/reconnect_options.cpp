// SPDX-License-Identifier: BSL-1.0
// reconnect_options: what cannot be.
#include "reconnect_options.hpp"

#include "require.hpp"

namespace quintet {

void validate(const reconnect_options& o) {
  using detail::require;
  require(o.base > duration::zero(), "reconnect.base", "is not positive; it must be above 0");
  require(o.cap >= o.base, "reconnect.cap", "is too small; it must be at least reconnect.base");
  require(o.lasted >= duration::zero(), "reconnect.lasted", "is negative; it must be at least 0");
}

}  // namespace quintet
