// SPDX-License-Identifier: BSL-1.0
// placement_policy: names.
#include "placement_policy.hpp"

namespace quintet {

std::string_view to_string(placement_policy policy) noexcept {
  switch (policy) {
    case placement_policy::round_robin:
      return "round_robin";
    case placement_policy::least_connections:
      return "least_connections";
    case placement_policy::peer_hash:
      return "peer_hash";
  }
  return "unknown";
}

std::optional<placement_policy> placement_policy_from_string(std::string_view text) noexcept {
  for (const placement_policy policy : all_placement_policies)
    if (text == to_string(policy)) return policy;
  return std::nullopt;
}

}  // namespace quintet
