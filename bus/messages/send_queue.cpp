// SPDX-License-Identifier: BSL-1.0
// send_queue: adds and frees chunks, and finds messages.
#include "send_queue.hpp"

namespace quintet::bus {

// A chunk that is full shrinks to its frames: then it can be sent as a whole. It keeps that size when it is used again,
// and grows when it must, because what grows is zeroed first.
void send_queue::make_room(std::size_t frame) {
  if (!chunks_.empty()) {
    numbered_chunk& last = chunks_.back();
    const bool fits = last.used + frame <= chunk_store::chunk_size;
    const std::size_t next = std::max<std::size_t>(frame, 4096);
    last.memory->resize(fits ? std::min(last.used + next, chunk_store::chunk_size) : last.used);
    if (fits) return;
  }
  chunks_.push_back({store_.take(frame), 0, last_ + 1});
}

void send_queue::acknowledge(std::uint64_t number) noexcept {
  acknowledged_ = number;
  while (!chunks_.empty()) {
    const std::uint64_t next = chunks_.size() > 1 ? chunks_[1].first : last_ + 1;
    if (next > number + 1) return;
    bytes_ -= chunks_.front().used;
    store_.put(std::move(chunks_.front().memory));
    chunks_.pop_front();
    ++freed_;
  }
}

send_queue::cursor send_queue::find(std::uint64_t number) const noexcept {
  std::size_t i = chunks_.size();
  while (i > 0 && chunks_[i - 1].first > number) --i;
  if (i == 0) return {freed_, 0};
  const numbered_chunk& c = chunks_[i - 1];
  std::size_t offset = 0;
  for (std::uint64_t n = c.first; n < number && offset < c.used; ++n) offset += sealed_size(c.data() + offset);
  return {freed_ + i - 1, offset};
}

const send_queue::numbered_chunk* send_queue::chunk_at(cursor& at) const noexcept {
  if (at.chunk < freed_) at = {freed_, 0};
  for (;; at = {at.chunk + 1, 0}) {
    const std::uint64_t i = at.chunk - freed_;
    if (i >= chunks_.size()) return nullptr;
    const numbered_chunk& c = chunks_[static_cast<std::size_t>(i)];
    if (at.offset < c.used) return &c;
    if (i + 1 >= chunks_.size()) return nullptr;
  }
}

bytes send_queue::peek(cursor& at) const noexcept {
  const numbered_chunk* const c = chunk_at(at);
  return c ? bytes(c->data() + at.offset, c->used - at.offset) : bytes();
}

shared_bytes send_queue::peek_chunk(cursor& at) const noexcept {
  const numbered_chunk* const c = chunk_at(at);
  return c && at.offset == 0 && c != &chunks_.back() ? c->memory : nullptr;
}

}  // namespace quintet::bus
