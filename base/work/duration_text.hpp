// SPDX-License-Identifier: BSL-1.0
// duration_text: the text of a duration in a message.
#pragma once

#include <chrono>
#include <string>

namespace quintet::detail {

/// [any thread] Return the exact value in the largest unit in which it is whole, from "ns" to "h": "-1 ns", "100 ms",
/// "90 s", "24 h". The overloads take a duration in its own unit, because a conversion to a finer one may overflow.
[[nodiscard]] std::string duration_text(std::chrono::nanoseconds value);
[[nodiscard]] std::string duration_text(std::chrono::microseconds value);
[[nodiscard]] std::string duration_text(std::chrono::milliseconds value);
[[nodiscard]] std::string duration_text(std::chrono::seconds value);

}  // namespace quintet::detail
