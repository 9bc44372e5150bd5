// SPDX-License-Identifier: BSL-1.0
// placement_options: validation.
#include "placement_options.hpp"

#include "../../net/loop/allowed_cpus.hpp"
#include "../../net/options/require.hpp"

#include <algorithm>

namespace quintet {

void validate(const placement_options& o) {
  const std::vector<int> allowed = allowed_cpus();
  for (const int cpu : o.cpus)
    detail::require(
        std::ranges::find(allowed, cpu) != allowed.end(), "cpus",
        "contains CPU " + std::to_string(cpu) + "; it must contain only CPUs that exist and that this process may use");
}

}  // namespace quintet
