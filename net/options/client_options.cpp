// SPDX-License-Identifier: BSL-1.0
// client_options: what may not be.
#include "client_options.hpp"

#include <string>

namespace quintet {

void validate(const client_options& options) {
  validate(options.connecting);
  if (options.reconnect) validate(*options.reconnect);
  validate(options.limits);
  if (options.bounded_socket_buffer < 0)
    throw config_error("bounded_socket_buffer: " + std::to_string(options.bounded_socket_buffer) +
                       " is not allowed, it must be at least 0");
  validate(options.engine);
  validate(loop_options_of(options), options.max_output_total);
}

}  // namespace quintet
