// SPDX-License-Identifier: BSL-1.0
// listen.hpp: the listening socket of the peers.
#pragma once

#include "unique_fd.hpp"

#include <cstdint>
#include <string>

namespace quintet::bench {

/// SO_REUSEADDR, close-on-exec, IPv4. Port 0: the system picks. Throws std::system_error.
unique_fd listen_on(const std::string& address, std::uint16_t port, bool blocking);
std::uint16_t local_port(const unique_fd& listening);
/// The next connection, with TCP_NODELAY, or an empty one: errno says why.
unique_fd accept_from(const unique_fd& listening, bool blocking);

}  // namespace quintet::bench
