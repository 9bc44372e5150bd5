// SPDX-License-Identifier: BSL-1.0
// offload: what cannot be.
#include "offload.hpp"

#include "../../base/error.hpp"

namespace quintet {

void validate(const offload_options& options) {
  if (options.threshold < duration::zero()) throw config_error("offload.threshold: it must not be below zero");
  if (options.harm_burst < duration::zero()) throw config_error("offload.harm_burst: it must not be below zero");
  if (!(options.harm_share > 0 && options.harm_share <= 1))  // nor NaN
    throw config_error("offload.harm_share: it must be above 0, and at most 1");
}

}  // namespace quintet
