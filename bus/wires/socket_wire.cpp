// SPDX-License-Identifier: BSL-1.0
// socket_wire: bounds what a connection holds, and keeps it at hand while its handler runs.
#include "socket_wire.hpp"

#include "../../net/connection/connection_registry.hpp"

#include <new>

namespace quintet::bus {

// Bytes that a connection may hold, and the rest of a chunk. More would only wait there instead of in the link's queue.
static constexpr std::size_t window = 128 * 1024;

void socket_wire::on_open(connection& c) {
  const auto scope = at_hand(c);
  id_ = c.id();
  registry_ = &c.registry();
  opened();
}

void socket_wire::on_input(connection& c, bytes in) {
  const auto scope = at_hand(c);
  received(in);
  if (kept_bytes() > 0) c.count_kept_input(kept_bytes());
  if (is_within_message()) c.mark_incomplete();
}

bool socket_wire::can_write() {
  if (!at_hand_ || in_window_ < window) return at_hand_ != nullptr;
  if (waits_) return false;
  at_hand_->when_sent([this](error_code failed) {
    waits_ = false;
    in_window_ = 0;
    if (!failed) request_flush();
  });
  waits_ = true;
  return false;
}

void socket_wire::schedule_flush() {
  if (at_hand_ || !registry_) return;  // the call that is in progress flushes
  (void)registry_->post(id_, [this](connection& c) {
    const auto scope = at_hand(c);
    flush();
  });
}

void socket_wire::shut() noexcept try {
  if (at_hand_)
    at_hand_->close();
  else if (registry_)
    (void)registry_->close(id_);
} catch (const std::bad_alloc&) {  // the peer closes, or a limit of time does
}

}  // namespace quintet::bus
