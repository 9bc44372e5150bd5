// SPDX-License-Identifier: BSL-1.0
// number_from: reads a number from an environment variable, such as the count of sequences.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace quintet::testing {

/// Returns the value of the environment variable, or `otherwise` if it is not set. Throws std::invalid_argument for any
/// text that is not a number from 1: with a misspelt number, the test would pass without a sequence.
[[nodiscard]] inline std::uint64_t number_from(const char* name, std::uint64_t otherwise) {
  const char* const value = std::getenv(name);
  if (!value) return otherwise;
  const std::string_view text = value;
  std::uint64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size() || number == 0)
    throw std::invalid_argument(std::string(name) + "=" + value + ": it must be a number from 1");
  return number;
}

}  // namespace quintet::testing
