// SPDX-License-Identifier: BSL-1.0
// reconnect_options: what cannot be.
#include "reconnect_options.hpp"

#include "require.hpp"

namespace quintet {

void validate(const reconnect_options& o) {
  using detail::require_value;
  require_value(o.base > duration::zero(), "reconnect.base", o.base, "above 0");
  require_value(o.cap >= o.base, "reconnect.cap", o.cap, "at least reconnect.base, " + detail::duration_text(o.base));
  require_value(o.lasted >= duration::zero(), "reconnect.lasted", o.lasted, "at least 0");
}

}  // namespace quintet
