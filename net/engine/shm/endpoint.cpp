// SPDX-License-Identifier: BSL-1.0
// endpoint: wakes a peer, and takes its wake-ups.
#include "endpoint.hpp"

#include "../passed_descriptors.hpp"

#include <array>
#include <cerrno>

#include <sys/socket.h>

namespace quintet::shm {
void wake_peer(int socket) noexcept {
  const char any = 0;
  (void)::send(socket, &any, sizeof any, MSG_DONTWAIT | MSG_NOSIGNAL);
}

bool take_wakes(int socket) noexcept {
  std::array<char, 256> ignored{};
  const ssize_t n = passed_descriptors::receive(socket, ignored.data(), ignored.size(), MSG_DONTWAIT);
  return n == 0 || (n < 0 && n != -EAGAIN && n != -EINTR);
}

}  // namespace quintet::shm
