// SPDX-License-Identifier: BSL-1.0
// client_options: what may not be.
#include <quintet/net/client_options.hpp>

#include <string>

namespace quintet {

void validate(const reconnect_options& options) {
  if (options.base <= duration::zero()) throw config_error("reconnect.base: it must be above zero");
  if (options.cap < options.base) throw config_error("reconnect.cap: it is below reconnect.base, it must not be");
  if (options.lasted < duration::zero()) throw config_error("reconnect.lasted: it is negative, it must not be");
}

void validate(const client_options& options) {
  validate(options.connecting);
  if (options.reconnect) validate(*options.reconnect);
  validate(options.limits);
  validate(options.offload);
  if (options.bounded_socket_buffer < 0)
    throw config_error("bounded_socket_buffer: " + std::to_string(options.bounded_socket_buffer) +
                       " is not allowed, it must be at least 0");
  validate(options.engine);
  validate(loop_options_of(options), options.max_output_total);
}

std::unique_ptr<engine> make_engine(const client_options& options) {
  return options.make_engine ? options.make_engine() : make_engine(options.engine, options.log);
}

}  // namespace quintet
