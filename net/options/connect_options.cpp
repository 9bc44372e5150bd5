// SPDX-License-Identifier: BSL-1.0
// connect_options: validation.
#include "connect_options.hpp"

#include "../../base/error.hpp"
#include "keep_alive.hpp"

#include <string>
#include <utility>

namespace quintet {

void validate(const connect_options& options) {
  validate(keep_alive_settings{options.keep_alive, options.user_timeout}, "connecting.");
  if (options.timeout < duration::zero()) throw config_error("connecting.timeout: it is negative, zero means no limit");
  if (options.attempt_delay <= duration::zero()) throw config_error("connecting.attempt_delay: it must be above zero");
  for (const auto& [name, size] :
       {std::pair("send_buffer", options.send_buffer), {"receive_buffer", options.receive_buffer}})
    if (size < 0)
      throw config_error("connecting." + std::string(name) + ": " + std::to_string(size) +
                         " is not allowed, it must be at least 0");
}

}  // namespace quintet
