// SPDX-License-Identifier: BSL-1.0
// connect_options: what cannot be.
#include "connect_options.hpp"

#include "keep_alive.hpp"
#include "require.hpp"

namespace quintet {

void validate(const connect_options& o) {
  using detail::require, detail::require_value;
  validate(keep_alive_settings{o.keep_alive, o.user_timeout}, "connecting.");
  require(o.timeout >= duration::zero(), "connecting.timeout", "it is negative, zero means no limit");
  require(o.attempt_delay > duration::zero(), "connecting.attempt_delay", "it must be above zero");
  require_value(o.send_buffer >= 0, "connecting.send_buffer", o.send_buffer, "at least 0");
  require_value(o.receive_buffer >= 0, "connecting.receive_buffer", o.receive_buffer, "at least 0");
}

}  // namespace quintet
