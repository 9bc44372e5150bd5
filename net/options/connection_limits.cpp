// SPDX-License-Identifier: BSL-1.0
// connection_limits: validation.
#include "limits.hpp"

#include "require.hpp"

namespace quintet {
namespace {

using detail::require, detail::require_value;

void require_not_negative(std::string_view option, duration value, std::string_view zero) {
  const auto shown = std::chrono::floor<std::chrono::milliseconds>(value).count();
  require(value >= duration{}, option,
          std::to_string(shown).append(" ms is not allowed, it must be at least 0 ms (").append(zero).append(")"));
}

}  // namespace

void validate(const connection_limits& l) {
  require_value(l.max_input >= 1, "max_input", l.max_input, "at least 1 byte");
  require_value(l.max_output >= 1, "max_output", l.max_output, "at least 1 byte");
  require(l.low_watermark <= l.high_watermark, "low_watermark",
          std::to_string(l.low_watermark) + " is above high_watermark, " + std::to_string(l.high_watermark));
  require(l.high_watermark <= l.max_output, "high_watermark",
          std::to_string(l.high_watermark) + " is above max_output, " + std::to_string(l.max_output));
  require_not_negative("first_byte_timeout", l.first_byte_timeout, "0 is no limit");
  require_not_negative("message_timeout", l.message_timeout, "0 is no limit");
  require_not_negative("idle_timeout", l.idle_timeout, "0 is no limit");
  require_not_negative("send_timeout", l.send_timeout, "0 is no limit");
  require_not_negative("linger_timeout", l.linger_timeout, "0 closes at once");
  require(l.min_receive_rate == 0 || l.message_timeout > duration{}, "min_receive_rate",
          "needs a message_timeout, to which it adds time");
}

}  // namespace quintet
