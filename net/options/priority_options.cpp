// SPDX-License-Identifier: BSL-1.0
// priority_options: what cannot be.
#include "advanced_options.hpp"

#include "require.hpp"

namespace quintet {

void validate(const priority_options& o) {
  constexpr std::size_t most_descriptors = 4096;
  constexpr std::size_t most_memory = std::size_t{1} << 30U;
  detail::require_value(o.reserve_descriptors <= most_descriptors, "priority.reserve_descriptors",
                        o.reserve_descriptors, "at most " + std::to_string(most_descriptors));
  detail::require_value(o.reserve_memory <= most_memory, "priority.reserve_memory", o.reserve_memory,
                        "at most " + std::to_string(most_memory));
}

}  // namespace quintet
