// SPDX-License-Identifier: BSL-1.0
// duration_text: finds the largest unit in which a duration is whole.
#include "duration_text.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace quintet::detail {
namespace {

constexpr std::array names{"ns", "us", "ms", "s", "min", "h"};
constexpr std::array<std::int64_t, names.size() - 1> next_unit{1000, 1000, 1000, 60, 60};

/// `unit`: index in `names`.
std::string text_of(std::int64_t value, std::size_t unit) {
  if (value == 0) return "0 s";
  for (; unit < next_unit.size() && value % next_unit[unit] == 0; ++unit) value /= next_unit[unit];
  return std::to_string(value).append(" ").append(names[unit]);
}

}  // namespace

std::string duration_text(std::chrono::nanoseconds value) { return text_of(value.count(), 0); }
std::string duration_text(std::chrono::microseconds value) { return text_of(value.count(), 1); }
std::string duration_text(std::chrono::milliseconds value) { return text_of(value.count(), 2); }
std::string duration_text(std::chrono::seconds value) { return text_of(value.count(), 3); }

}  // namespace quintet::detail
