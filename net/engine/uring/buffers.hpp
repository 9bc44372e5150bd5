// SPDX-License-Identifier: BSL-1.0
// buffers: what the kernel receives into, and what small sends wait in until the end of the turn; one of each for a
// loop.
#pragma once

#include "../../../base/memory/byte_buffer.hpp"
#include "../pieces.hpp"
#include "ring.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace quintet::uring {

/// Buffers that the kernel picks from when bytes arrive: an idle connection holds none.
class receive_buffers {
 public:
  static constexpr unsigned count = 256;
  static constexpr std::size_t size = 16 * 1024;

  receive_buffers();
  receive_buffers(const receive_buffers&) = delete;
  receive_buffers& operator=(const receive_buffers&) = delete;

  /// Gives all of them to this ring, and none is in use. Throws boost::system::system_error.
  void attach(ring& to);
  /// What a completion of a receive() has brought; to be given back.
  [[nodiscard]] bytes contents(const completion& c) const noexcept;
  void give_back(const completion& c) noexcept;
  static void receive(io_uring_sqe& into, int handle) noexcept;

 private:
  void add(unsigned id) noexcept;
  struct freed {
    void operator()(void* memory) const noexcept;
  };
  std::unique_ptr<char, freed> memory_;
  std::unique_ptr<io_uring_buf_ring, freed> ring_;
};

/// Copies of what has been sent and not been taken by the kernel yet.
class send_slots {
 public:
  static constexpr unsigned count = 512;
  static constexpr std::size_t size = 4 * 1024;
  static constexpr int none = -1;

  send_slots();
  send_slots(const send_slots&) = delete;
  send_slots& operator=(const send_slots&) = delete;

  /// The one that was given back last, which is in the cache; or none.
  [[nodiscard]] int take() noexcept { return free_count_ > 0 ? free_[--free_count_] : none; }
  void give_back(int slot) noexcept { free_[free_count_++] = static_cast<std::int16_t>(slot); }
  [[nodiscard]] char* at(int slot) noexcept { return memory_.get() + static_cast<std::size_t>(slot) * size; }
  /// Adds the pieces behind `used` bytes of the slot.
  void append(int slot, std::size_t used, output_pieces pieces) noexcept;

 private:
  std::unique_ptr<char[]> memory_;
  std::array<std::int16_t, count> free_{};
  unsigned free_count_ = count;
};

}  // namespace quintet::uring
