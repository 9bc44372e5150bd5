// SPDX-License-Identifier: BSL-1.0
// shm_peer: the client's end of a connection over shared memory, in the same process as the server's.
#pragma once

#include "sockets.hpp"

#include <quintet/net/engine/shm/endpoint.hpp>
#include <quintet/net/engine/shm/offer.hpp>

#include <stdexcept>
#include <utility>

namespace quintet::test {

/// Offers shared memory on `server`, which carries its endpoint then, and returns the endpoint of the client at
/// `client`.
inline shm::endpoint offered_to(stream_handle& server, int client, std::size_t ring_size) {
  shm::segment_offerer({.ring_size = ring_size}).offer_to(server);
  shm::segment memory;
  if (shm::receive_offer(client, memory)) throw std::runtime_error("an honest offer is refused");
  return shm::endpoint(std::move(memory));
}

}  // namespace quintet::test
