// SPDX-License-Identifier: BSL-1.0
// offload: names, and validation.
#include "offload.hpp"

#include "../../base/error.hpp"

namespace quintet {

std::string_view to_string(offload_policy policy) noexcept {
  switch (policy) {
    case offload_policy::automatic:
      return "automatic";
    case offload_policy::always:
      return "always";
    case offload_policy::adaptive:
      return "adaptive";
  }
  return "unknown";
}

std::optional<offload_policy> offload_policy_from_string(std::string_view text) noexcept {
  for (const offload_policy policy : all_offload_policies)
    if (text == to_string(policy)) return policy;
  return std::nullopt;
}

void validate(const offload_options& options) {
  if (options.threshold < duration::zero()) throw config_error("offload.threshold: it must not be below zero");
  if (options.inline_overrun_burst < duration::zero())
    throw config_error("offload.inline_overrun_burst: it must not be below zero");
  if (!(options.inline_overrun_ratio > 0 && options.inline_overrun_ratio <= 1))  // nor NaN
    throw config_error("offload.inline_overrun_ratio: it must be above 0, and at most 1");
}

}  // namespace quintet
