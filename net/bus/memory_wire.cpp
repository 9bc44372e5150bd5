// SPDX-License-Identifier: BSL-1.0
// memory_wire: hands bytes over between two loops.
#include "memory_wire.hpp"

#include "node.hpp"

#include <utility>

namespace quintet::bus {

void memory_pipe::set_end(unsigned side, memory_wire& end, event_loop& loop) {
  const std::lock_guard lock(mutex_);
  lanes_[side].writer = &end;
  lanes_[side].loop = &loop;
  if (!lanes_[1 - side].waiting.empty()) post_to_reader_of(1 - side);
}

bool memory_pipe::write(unsigned side, bytes data) {
  const std::lock_guard lock(mutex_);
  if (lanes_[1 - side].is_closed) return false;
  lanes_[side].waiting.append(data);
  post_to_reader_of(side);
  return true;
}

void memory_pipe::close(unsigned side) noexcept try {
  const std::lock_guard lock(mutex_);
  lanes_[side].writer = nullptr;
  if (std::exchange(lanes_[side].is_closed, true)) return;
  post_to_reader_of(side);
} catch (const std::bad_alloc&) {  // the other side finds out when it writes
}

// The reader may not be there yet. The lock holds its loop: it closes its side before the loop ends.
void memory_pipe::post_to_reader_of(unsigned side) {
  const lane& reader = lanes_[1 - side];
  if (!reader.writer || lanes_[side].is_posted) return;
  reader.loop->post([self = shared_from_this(), side]() noexcept { self->deliver(side); });
  lanes_[side].is_posted = true;
}

// The end lives until this returns: its node destroys it by a post of its own.
void memory_pipe::deliver(unsigned side) {
  lane& from = lanes_[side];
  memory_wire* end = nullptr;
  bool is_last = false;
  {
    const std::lock_guard lock(mutex_);
    from.is_posted = false;
    end = lanes_[1 - side].writer;
    from.taken.swap(from.waiting);
    is_last = from.is_closed;
  }
  if (end && !from.taken.empty()) end->deliver(from.taken);
  from.taken.clear();
  if (end && is_last) end->peer_closed();
}

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
