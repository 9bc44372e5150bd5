// SPDX-License-Identifier: BSL-1.0
// require: how a wrong option is refused: its name, its value, and what is allowed.
#pragma once

#include "../../base/error.hpp"

#include <concepts>
#include <string>
#include <string_view>

namespace quintet::detail {

/// [any thread] Throws config_error, "<option> <what is wrong>; it must be <rule>", unless it holds.
inline void require(bool holds, std::string_view option, std::string_view wrong) {
  if (!holds) throw config_error(std::string(option).append(" ").append(wrong));
}

/// [any thread] The same with the wrong value: "<option> is <value>; it must be <rule>".
template <std::integral Value>
void require_value(bool holds, std::string_view option, Value value, std::string_view rule) {
  if (!holds) require(false, option, "is " + std::to_string(value).append("; it must be ").append(rule));
}

}  // namespace quintet::detail
