// SPDX-License-Identifier: BSL-1.0
// keep_alive: the limits of its values.
#include "keep_alive.hpp"

namespace quintet {

void validate(const keep_alive_settings& s, const std::string& owner) {
  using settings = keep_alive_settings;
  if (s.keep_alive.count() < 0 || s.keep_alive > settings::longest_idle)
    throw config_error(owner + "keep_alive: " + std::to_string(s.keep_alive.count()) +
                       " s is not allowed, it must be from 0 to " + std::to_string(settings::longest_idle.count()) +
                       " s");
  if (s.user_timeout.count() < 0 || s.user_timeout > settings::longest_timeout)
    throw config_error(owner + "user_timeout: " + std::to_string(s.user_timeout.count()) +
                       " ms is not allowed, it must be from 0 to " + std::to_string(settings::longest_timeout.count()) +
                       " ms");
}

}  // namespace quintet
