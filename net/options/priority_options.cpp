// SPDX-License-Identifier: BSL-1.0
// priority_options: names, and what cannot be.
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

std::string_view to_string(lane_scheduling s) noexcept {
  switch (s) {
    case lane_scheduling::automatic:
      return "automatic";
    case lane_scheduling::real_time:
      return "real_time";
    case lane_scheduling::short_slice:
      return "short_slice";
    case lane_scheduling::none:
      return "none";
  }
  return "unknown";
}

std::optional<lane_scheduling> lane_scheduling_from_string(std::string_view text) noexcept {
  for (const lane_scheduling s : all_lane_schedulings)
    if (text == to_string(s)) return s;
  return std::nullopt;
}

void validate(const priority_options& options) {
  require_at_most("priority.reserve_descriptors", options.reserve_descriptors, most_descriptors);
  require_at_most("priority.reserve_memory", options.reserve_memory, most_memory);
}

}  // namespace quintet
