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
    detail::require(std::ranges::find(allowed, cpu) != allowed.end(), "cpus",
                    "this process may not use CPU " + std::to_string(cpu) + ", or there is none");
}

}  // namespace quintet
