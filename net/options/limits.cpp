// SPDX-License-Identifier: BSL-1.0
// limits: validation.
#include "limits.hpp"

#include "require.hpp"

#include <string>

namespace quintet {
namespace {

using detail::duration_text, detail::require_value;

void require_not_negative(std::string_view option, duration value, std::string_view zero) {
  require_value(value >= duration{}, option, value, std::string("at least 0 (").append(zero).append(")"));
}

template <class Time>
void require_time(Time value, Time longest, const std::string& option) {
  require_value(value >= Time::zero() && value <= longest, option, value, "from 0 to " + duration_text(longest));
}

}  // namespace

void validate(const connection_limits& l) {
  require_value(l.max_input >= 1, "max_input", l.max_input, "at least 1 byte");
  require_value(l.max_output >= 1, "max_output", l.max_output, "at least 1 byte");
  require_value(l.low_watermark <= l.high_watermark, "low_watermark", l.low_watermark,
                "at most high_watermark, " + std::to_string(l.high_watermark));
  require_value(l.high_watermark <= l.max_output, "high_watermark", l.high_watermark,
                "at most max_output, " + std::to_string(l.max_output));
  require_value(l.merge_threshold >= 1, "merge_threshold", l.merge_threshold, "at least 1 byte");
  require_not_negative("first_byte_timeout", l.first_byte_timeout, "0 means no limit");
  require_not_negative("message_timeout", l.message_timeout, "0 means no limit");
  require_not_negative("idle_timeout", l.idle_timeout, "0 means no limit");
  require_not_negative("send_timeout", l.send_timeout, "0 means no limit");
  require_not_negative("linger_timeout", l.linger_timeout, "0 closes at once");
  require_value(l.min_receive_rate == 0 || l.message_timeout > duration{}, "min_receive_rate", l.min_receive_rate,
                "0 if message_timeout is 0");
}

void validate(const accept_limits& l) {
  constexpr unsigned fastest = 1'000'000;
  require_value(l.accept_rate <= fastest, "accept_rate", l.accept_rate, "at most " + std::to_string(fastest));
  require_value(l.accept_burst == 0 || l.accept_rate > 0, "accept_burst", l.accept_burst, "0 if accept_rate is 0");
}

void validate(const socket_options& o, std::string_view prefix) {
  const auto name = [prefix](const char* option) { return std::string(prefix).append(option); };
  require_value(o.send_buffer >= 0, name("send_buffer"), o.send_buffer, "at least 0");
  require_value(o.receive_buffer >= 0, name("receive_buffer"), o.receive_buffer, "at least 0");
  require_time(o.keep_alive, socket_options::longest_keep_alive, name("keep_alive"));
  require_time(o.user_timeout, socket_options::longest_user_timeout, name("user_timeout"));
}

}  // namespace quintet
