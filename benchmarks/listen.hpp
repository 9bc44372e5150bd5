// SPDX-License-Identifier: BSL-1.0
// listen.hpp: listening sockets of the peers and of probes.
#pragma once

#include "unique_fd.hpp"

#include <cstdint>
#include <string>

namespace quintet::bench {

/// Listens on IPv4, non-blocking, with SO_REUSEADDR and close-on-exec. Port 0: the system chooses. Throws
/// std::system_error.
unique_fd listen_on(const std::string& address, std::uint16_t port);
std::uint16_t local_port(const unique_fd& listening);
/// Accepts a connection and sets TCP_NODELAY. Returns an empty descriptor with errno set on failure.
unique_fd accept_from(const unique_fd& listening, bool blocking = false);

}  // namespace quintet::bench
