// SPDX-License-Identifier: BSL-1.0
// buffers: each loop's buffers for receiving, and for small sends until the end of the turn.
#pragma once

#include "../../../base/memory/byte_buffer.hpp"
#include "../channel.hpp"
#include "io_ring.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace quintet::uring {

/// [loop] Buffers that the kernel picks from when bytes arrive: an idle connection holds none.
class receive_buffers {
 public:
  static constexpr unsigned count = 256;
  static constexpr std::size_t size = 16 * 1024;

  receive_buffers();
  receive_buffers(const receive_buffers&) = delete;
  receive_buffers& operator=(const receive_buffers&) = delete;

  /// Gives all buffers to this ring, which fills at most `limit` bytes of each. None may be in use. Throws
  /// boost::system::system_error.
  void attach(io_ring& to, std::size_t limit);
  /// Returns the bytes of a completed receive(). The caller must give_back() the buffer.
  [[nodiscard]] bytes contents(const completion& c) const noexcept;
  void give_back(const completion& c) noexcept;
  /// `waits`: probably nothing has arrived yet, so the kernel need not try before it waits.
  static void receive(io_uring_sqe& into, int handle, bool waits) noexcept;

 private:
  void add(unsigned id) noexcept;
  struct freed {
    void operator()(void* memory) const noexcept;
  };
  std::unique_ptr<char, freed> memory_;
  std::unique_ptr<io_uring_buf_ring, freed> ring_;
  unsigned filled_ = size;  // bytes of a buffer that the kernel may fill
};

/// [loop] Copies of sent bytes that the kernel has not accepted yet.
class send_slots {
 public:
  static constexpr unsigned count = 512;
  static constexpr std::size_t size = 4 * 1024;
  static constexpr int none = -1;

  send_slots();
  send_slots(const send_slots&) = delete;
  send_slots& operator=(const send_slots&) = delete;

  /// Returns the slot that was given back last, since the cache holds it, or `none`.
  [[nodiscard]] int take() noexcept { return free_count_ > 0 ? free_[--free_count_] : none; }
  void give_back(int slot) noexcept { free_[free_count_++] = static_cast<std::int16_t>(slot); }
  [[nodiscard]] char* at(int slot) noexcept { return memory_.get() + static_cast<std::size_t>(slot) * size; }
  /// Copies the pieces behind the `used` bytes of the slot. The caller must ensure that they fit.
  void append(int slot, std::size_t used, output_pieces pieces) noexcept;

 private:
  std::unique_ptr<char[]> memory_;
  std::array<std::int16_t, count> free_{};
  unsigned free_count_ = count;
};

}  // namespace quintet::uring
