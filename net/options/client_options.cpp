// SPDX-License-Identifier: BSL-1.0
// client_options: validation.
#include "client_options.hpp"

namespace quintet {

void validate(const client_options& options) {
  validate(options.connecting);
  if (options.reconnect) validate(*options.reconnect);
  validate(options.limits);
  validate(options.engine);
  validate(options.loop, options.memory.max_output_total);
}

}  // namespace quintet
