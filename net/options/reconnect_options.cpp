// SPDX-License-Identifier: BSL-1.0
// reconnect_options: validation.
#include "reconnect_options.hpp"

#include "../../base/error.hpp"

namespace quintet {

void validate(const reconnect_options& options) {
  if (options.base <= duration::zero()) throw config_error("reconnect.base: it must be above zero");
  if (options.cap < options.base) throw config_error("reconnect.cap: it is below reconnect.base, it must not be");
  if (options.lasted < duration::zero()) throw config_error("reconnect.lasted: it is negative, it must not be");
}

}  // namespace quintet
