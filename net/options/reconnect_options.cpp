// SPDX-License-Identifier: BSL-1.0
// reconnect_options: what cannot be.
#include "reconnect_options.hpp"

#include "require.hpp"

namespace quintet {

void validate(const reconnect_options& o) {
  using detail::require;
  require(o.base > duration::zero(), "reconnect.base", "it must be above zero");
  require(o.cap >= o.base, "reconnect.cap", "it is below reconnect.base, it must not be");
  require(o.lasted >= duration::zero(), "reconnect.lasted", "it is negative, it must not be");
}

}  // namespace quintet
