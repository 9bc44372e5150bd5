// SPDX-License-Identifier: BSL-1.0
// offload: names, and what cannot be.
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
  if (options.harm_burst < duration::zero()) throw config_error("offload.harm_burst: it must not be below zero");
  if (!(options.harm_share > 0 && options.harm_share <= 1))  // nor NaN
    throw config_error("offload.harm_share: it must be above 0, and at most 1");
}

}  // namespace quintet
