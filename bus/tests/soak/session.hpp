// SPDX-License-Identifier: BSL-1.0
// session: one client's connection in the soak test: a script of requests, and the check of each byte that comes back.
#pragma once

#include "plan.hpp"

#include <cstdint>
#include <string>

namespace quintet::test::soak {

/// Where the server of a round listens.
struct targets {
  std::uint16_t tcp = 0;
  std::string unix_path;  ///< which also offers shared memory
};

/// Runs one session over TCP, a Unix socket or shared memory, as the dice decide. Returns what went wrong, or nothing.
[[nodiscard]] std::string run_session(const plan& p, const targets& at, dice& random);

}  // namespace quintet::test::soak
