// SPDX-License-Identifier: BSL-1.0
// byte_chain: links, splices and drops chunks.
#include "byte_chain.hpp"

#include <algorithm>

namespace quintet {

void byte_chain::append(bytes more, chunk_cache* spare) {
  // Operations that can fail come first.
  const std::size_t here = last_ ? std::min(last_->room(), more.size()) : 0;
  byte_chain fresh;
  for (bytes rest = more.substr(here); !rest.empty();) {
    chunk_cache::storage c = spare ? spare->take() : std::make_unique<storage_chunk>();
    const bytes part = rest.substr(0, c->room());
    c->fill(part);
    rest.remove_prefix(part.size());
    fresh.link(c.release());
  }
  if (here > 0) last_->fill(more.substr(0, here));
  if (fresh.last_) link(std::exchange(fresh.last_, nullptr));
}

void byte_chain::append(shared_bytes whole, std::size_t offset) {
  auto c = std::make_unique<reference_chunk>(std::move(whole));
  const bytes part = bytes(*c->keeps).substr(offset);
  c->begin = part.data();
  c->end = c->limit = c->begin + part.size();
  c->is_reference = true;
  link(c.release());
}

void byte_chain::splice(byte_chain& more, chunk_cache& spare) noexcept {
  if (more.empty()) return;
  more.consume_chunks(0, spare);  // drops a chunk that stayed empty before a reference
  if (empty()) {
    spare.recycle(*this);
    swap(more);
  } else if (more.size() <= last_->room() && !more.has_references()) {
    const chunk* c = more.last_;
    do {
      c = c->next;
      last_->fill({c->begin, c->size()});
    } while (c != more.last_);
    spare.recycle(more);
  } else {
    link(std::exchange(more.last_, nullptr));
  }
}

bool byte_chain::has_references() const noexcept {
  const chunk* c = last_;
  do {
    if (c->is_reference) return true;
    c = c->next;
  } while (c != last_);
  return false;
}

// `fresh` is the last chunk of a ring of its own.
void byte_chain::link(chunk* fresh) noexcept {
  if (last_) {
    fresh->before += last_->before + last_->size();
    std::swap(fresh->next, last_->next);
  }
  last_ = fresh;
}

std::size_t byte_chain::gather(std::span<iovec> into) const noexcept {
  if (!last_) return 0;
  std::size_t count = 0;
  for (const chunk* c = last_->next; count < into.size(); c = c->next) {
    if (c->size() > 0) into[count++] = {const_cast<char*>(c->begin), c->size()};  // sendmsg only reads it
    if (c == last_) break;
  }
  return count;
}

void byte_chain::consume_chunks(std::size_t count, chunk_cache& spare) noexcept {
  while (last_->next != last_) {
    chunk* const first = last_->next;
    const std::size_t here = std::min(count, first->size());
    first->begin += here;
    last_->before -= here;
    count -= here;
    if (first->size() > 0) return;
    last_->next = first->next;
    recycle(first, spare);
  }
  last_->begin += count;
  if (last_->size() > 0) return;
  if (last_->is_reference)
    recycle(std::exchange(last_, nullptr), spare);
  else
    static_cast<storage_chunk*>(last_)->rewind();
}

void byte_chain::free(chunk* c) noexcept {
  if (c->is_reference)
    delete static_cast<reference_chunk*>(c);
  else
    delete static_cast<storage_chunk*>(c);
}

void byte_chain::recycle(chunk* c, chunk_cache& spare) noexcept {
  if (c->is_reference) return free(c);
  c->next = c;
  c->before = 0;
  spare.put(static_cast<storage_chunk*>(c));
}

void byte_chain::release() noexcept {
  chunk* c = std::exchange(last_->next, nullptr);
  while (c) free(std::exchange(c, c->next));
  last_ = nullptr;
}

chunk_cache::chunk_cache(std::size_t in_advance, surplus_watcher* watcher)
    : spares_(std::max(in_advance / byte_chain::chunk_size + 1, spare_chunks), watcher) {
  for (std::size_t held = 0; held < in_advance; held += byte_chain::chunk_size)
    spares_.push(new byte_chain::storage_chunk);
}

chunk_cache::storage chunk_cache::take() {
  byte_chain::storage_chunk* const spare = try_take();
  if (!spare) throw std::bad_alloc();
  return storage(spare);
}

byte_chain::storage_chunk* chunk_cache::try_make() noexcept { return new (std::nothrow) byte_chain::storage_chunk; }

void chunk_cache::recycle_all(byte_chain& chain) noexcept {
  using chunk = byte_chain::chunk;
  chunk* c = std::exchange(chain.last_->next, nullptr);
  while (c) byte_chain::recycle(std::exchange(c, c->next), *this);
  chain.last_ = nullptr;
}

}  // namespace quintet
