// SPDX-License-Identifier: BSL-1.0
// socket_options: the limits of their values.
#include "socket_options.hpp"

#include "require.hpp"

#include <string>

namespace quintet {
namespace {

template <class Time>
void require_time(Time value, Time longest, std::string_view unit, const std::string& option) {
  detail::require(value >= Time::zero() && value <= longest, option,
                  "is " + std::to_string(value.count())
                              .append(unit)
                              .append("; it must be from 0 to ")
                              .append(std::to_string(longest.count()))
                              .append(unit));
}

}  // namespace

void validate(const socket_options& o, std::string_view prefix) {
  const auto name = [prefix](const char* option) { return std::string(prefix).append(option); };
  detail::require_value(o.send_buffer >= 0, name("send_buffer"), o.send_buffer, "at least 0");
  detail::require_value(o.receive_buffer >= 0, name("receive_buffer"), o.receive_buffer, "at least 0");
  require_time(o.keep_alive, socket_options::longest_keep_alive, " s", name("keep_alive"));
  require_time(o.user_timeout, socket_options::longest_user_timeout, " ms", name("user_timeout"));
}

}  // namespace quintet
