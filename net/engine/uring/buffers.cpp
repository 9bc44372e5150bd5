// SPDX-License-Identifier: BSL-1.0
// buffers: registers, recycles and fills the buffers of a ring.
#include "buffers.hpp"

#include "../../../base/memory/byte_buffer.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

#include <boost/system/system_error.hpp>

namespace quintet::uring {
namespace {

constexpr std::size_t page = 4096;
constexpr unsigned short group = 0;

// An untouched page takes no memory, so a buffer costs only the pages that bytes have arrived in.
void* pages(std::size_t size) {
  if (void* const memory = std::aligned_alloc(page, (size + page - 1) / page * page)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void receive_buffers::freed::operator()(void* memory) const noexcept { std::free(memory); }

receive_buffers::receive_buffers()
    : memory_(static_cast<char*>(pages(count * size))),
      ring_(static_cast<io_uring_buf_ring*>(pages(count * sizeof(io_uring_buf)))) {}

void receive_buffers::attach(io_ring& to, std::size_t limit) {
  filled_ = static_cast<unsigned>(std::min(limit, size));
  io_uring_buf_reg registration{};
  registration.ring_addr = reinterpret_cast<std::uintptr_t>(ring_.get());
  registration.ring_entries = count;
  registration.bgid = group;
  std::memset(ring_.get(), 0, count * sizeof(io_uring_buf));
  if (const int result = io_uring_register_buf_ring(&to.native(), &registration, 0); result < 0)
    throw_system_error(-result, "cannot create an event loop: io_uring_register_buf_ring");
  io_uring_buf_ring_init(ring_.get());
  for (unsigned id = 0; id < count; ++id) add(id);
}

void receive_buffers::add(unsigned id) noexcept {
  io_uring_buf_ring_add(ring_.get(), memory_.get() + id * size, filled_, static_cast<unsigned short>(id),
                        io_uring_buf_ring_mask(count), 0);
  io_uring_buf_ring_advance(ring_.get(), 1);
}

bytes receive_buffers::contents(const completion& c) const noexcept {
  if (!(c.flags & IORING_CQE_F_BUFFER) || c.result <= 0) return {};
  return {memory_.get() + (c.flags >> IORING_CQE_BUFFER_SHIFT) * size, static_cast<std::size_t>(c.result)};
}

void receive_buffers::give_back(const completion& c) noexcept {
  if (c.flags & IORING_CQE_F_BUFFER) add(c.flags >> IORING_CQE_BUFFER_SHIFT);
}

// Not multishot: where bytes and a reset arrive together, Linux completes such a request with the bytes, and then waits
// for an event that never comes (liburing#1549; Unix sockets lose an orderly end so, too). A request of its own looks
// at the socket's state before it waits.
void receive_buffers::receive(io_uring_sqe& into, int handle, bool waits) noexcept {
  io_uring_prep_recv(&into, handle, nullptr, 0, 0);
  if (waits) into.ioprio |= IORING_RECVSEND_POLL_FIRST;
  into.flags |= IOSQE_BUFFER_SELECT;
  into.buf_group = group;
}

send_slots::send_slots() : memory_(std::make_unique_for_overwrite<char[]>(count * size)) {
  for (unsigned i = 0; i < count; ++i) free_[i] = static_cast<std::int16_t>(count - 1 - i);
}

void send_slots::append(int slot, std::size_t used, output_pieces pieces) noexcept {
  char* to = at(slot) + used;
  for (const iovec& piece : pieces) {
    copy_bytes(to, {static_cast<const char*>(piece.iov_base), piece.iov_len});
    to += piece.iov_len;
  }
}

}  // namespace quintet::uring
