// SPDX-License-Identifier: BSL-1.0
// forwarding_sockets: the calls that concern ports.
#include "forwarding_sockets.hpp"

#include "engine.hpp"

namespace quintet::shm {

std::size_t forwarding_sockets::unread(int handle) const noexcept {
  port* const p = owner_.port_of(handle);
  return p ? p->unread() : inner_.unread(handle);
}

std::size_t forwarding_sockets::unsent(int handle) const noexcept {
  port* const p = owner_.port_of(handle);
  return p ? p->unsent() : inner_.unsent(handle);
}

// The engine overrides the functions of its base that would call these.
void forwarding_sockets::shutdown_send(int handle) noexcept { owner_.shutdown_send(handle); }
void forwarding_sockets::close(int handle) noexcept { owner_.close(handle); }

}  // namespace quintet::shm
