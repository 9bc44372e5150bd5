// SPDX-License-Identifier: BSL-1.0
// connection_limits: validation.
#include "connection_limits.hpp"

#include "require.hpp"

namespace quintet {
namespace {

using detail::require, detail::require_value;

void require_not_negative(std::string_view option, duration value, std::string_view zero) {
  const auto shown = std::chrono::floor<std::chrono::milliseconds>(value).count();
  require(value >= duration{}, option,
          "is " + std::to_string(shown).append(" ms; it must be at least 0 ms (").append(zero).append(")"));
}

}  // namespace

void validate(const connection_limits& l) {
  require_value(l.max_input >= 1, "max_input", l.max_input, "at least 1 byte");
  require_value(l.max_output >= 1, "max_output", l.max_output, "at least 1 byte");
  require(l.low_watermark <= l.high_watermark, "low_watermark",
          "is " + std::to_string(l.low_watermark) + "; it must be at most high_watermark, " +
              std::to_string(l.high_watermark));
  require(
      l.high_watermark <= l.max_output, "high_watermark",
      "is " + std::to_string(l.high_watermark) + "; it must be at most max_output, " + std::to_string(l.max_output));
  require_not_negative("first_byte_timeout", l.first_byte_timeout, "0 means no limit");
  require_not_negative("message_timeout", l.message_timeout, "0 means no limit");
  require_not_negative("idle_timeout", l.idle_timeout, "0 means no limit");
  require_not_negative("send_timeout", l.send_timeout, "0 means no limit");
  require_not_negative("linger_timeout", l.linger_timeout, "0 closes at once");
  require(l.min_receive_rate == 0 || l.message_timeout > duration{}, "min_receive_rate",
          "is not 0; it must be 0 if message_timeout is 0");
}

}  // namespace quintet
