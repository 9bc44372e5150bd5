// SPDX-License-Identifier: BSL-1.0
// require: how a wrong option is refused: its name, its value, and what is allowed.
#pragma once

#include "../../base/error.hpp"
#include "../../base/work/duration_text.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <concepts>
#include <string>
#include <string_view>

namespace quintet::detail {

/// [any thread] Throws config_error, "<option> <what is wrong>; it must be <rule>", unless it holds.
inline void require(bool holds, std::string_view option, std::string_view wrong) {
  if (!holds) throw config_error(std::string(option).append(" ").append(wrong));
}

template <std::integral Value>
std::string value_text(Value value) {
  return std::to_string(value);
}
template <std::floating_point Value>
std::string value_text(Value value) {
  std::array<char, 64> digits{};
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};  // the shortest text
}
template <class Rep, class Period>
std::string value_text(std::chrono::duration<Rep, Period> value) {
  return duration_text(value);
}

/// [any thread] The same with the wrong value, a number or a duration: "<option> is <value>; it must be <rule>".
template <class Value>
void require_value(bool holds, std::string_view option, Value value, std::string_view rule) {
  if (!holds) require(false, option, "is " + value_text(value).append("; it must be ").append(rule));
}

}  // namespace quintet::detail
