// SPDX-License-Identifier: BSL-1.0
// priority_options: what cannot be.
#include "priority_options.hpp"

#include "../../base/error.hpp"

#include <string>

namespace quintet {
namespace {

constexpr std::size_t most_descriptors = 4096;
constexpr std::size_t most_memory = std::size_t{1} << 30U;

void require_at_most(const char* name, std::size_t value, std::size_t most) {
  if (value > most)
    throw config_error(std::string(name) + ": " + std::to_string(value) + " is not allowed, it must be at most " +
                       std::to_string(most));
}

}  // namespace

void validate(const priority_options& options) {
  require_at_most("priority.reserve_descriptors", options.reserve_descriptors, most_descriptors);
  require_at_most("priority.reserve_memory", options.reserve_memory, most_memory);
}

}  // namespace quintet
