// SPDX-License-Identifier: BSL-1.0
// offload: validation.
#include "thread_options.hpp"

#include "../../base/error.hpp"

namespace quintet {

void validate(const offload_options& options) {
  if (options.threshold < duration::zero()) throw config_error("offload.threshold: it must not be below zero");
  if (options.inline_overrun_burst < duration::zero())
    throw config_error("offload.inline_overrun_burst: it must not be below zero");
  if (!(options.inline_overrun_ratio > 0 && options.inline_overrun_ratio <= 1))  // also refuses NaN
    throw config_error("offload.inline_overrun_ratio: it must be above 0, and at most 1");
}

}  // namespace quintet
