// SPDX-License-Identifier: BSL-1.0
// offload: validation.
#include "offload.hpp"

#include "../../base/error.hpp"

namespace quintet {

void validate(const offload_options& options) {
  if (options.threshold < duration::zero()) throw config_error("offload.threshold is negative; it must be at least 0");
  if (options.inline_overrun_burst < duration::zero())
    throw config_error("offload.inline_overrun_burst is negative; it must be at least 0");
  if (!(options.inline_overrun_ratio > 0 && options.inline_overrun_ratio <= 1))  // nor NaN
    throw config_error("offload.inline_overrun_ratio is out of range; it must be above 0 and at most 1");
}

}  // namespace quintet
