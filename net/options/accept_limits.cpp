// SPDX-License-Identifier: BSL-1.0
// accept_limits: what may not be.
#include "accept_limits.hpp"

#include <string>

namespace quintet {
namespace {

constexpr unsigned fastest = 1'000'000;

}  // namespace

void validate(const accept_limits& l) {
  if (l.accept_rate > fastest)
    throw config_error("accept_rate: " + std::to_string(l.accept_rate) + " is not allowed, it must be at most " +
                       std::to_string(fastest));
  if (l.accept_burst > 0 && l.accept_rate == 0)
    throw config_error("accept_burst: " + std::to_string(l.accept_burst) + " needs an accept_rate, which is 0");
  if (l.bounded_socket_buffer < 0)
    throw config_error("bounded_socket_buffer: " + std::to_string(l.bounded_socket_buffer) +
                       " is not allowed, it must be at least 0");
}

}  // namespace quintet
