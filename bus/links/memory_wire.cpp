// SPDX-License-Identifier: BSL-1.0
// memory_wire: the end of a pipe that a node owns.
#include "memory_wire.hpp"

#include "node.hpp"

#include <utility>

namespace quintet::bus {

memory_wire::memory_wire(node& owner, link* of, std::shared_ptr<memory_pipe> pipe, unsigned side)
    : wire(owner, of, bus_route::mem), pipe_(std::move(pipe)), side_(side) {
  pipe_->set_end(side_, *this, owner.loop());
}

void memory_wire::deliver(bytes in) noexcept try { received(in); } catch (...) {
  owner().loop().counters().handler_errors.add();
  peer_closed();
}

void memory_wire::peer_closed() noexcept {
  pipe_->close(side_);
  ended();
  owner().drop(*this);
}

void memory_wire::schedule_flush() {
  owner().loop().post([weak = weak_from_this()]() noexcept {
    if (const auto self = weak.lock()) self->deliver({});
  });
}

void memory_wire::shut() noexcept {
  pipe_->close(side_);
  owner().drop(*this);
}

}  // namespace quintet::bus
