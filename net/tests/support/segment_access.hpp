// SPDX-License-Identifier: BSL-1.0
// segment_access: writes to a segment what a hostile peer can write: any byte, at any time.
#pragma once

#include <quintet/net/engine/shm/segment.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace quintet::shm {

/// The segment as its peer sees it. The segment must outlive this object.
class segment_access {
 public:
  explicit segment_access(const segment& s) noexcept : base_(s.base_), size_(4096 + 2 * s.ring_size_) {}
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  void write(std::size_t at, std::uint64_t value) const noexcept {
    auto* const place = reinterpret_cast<std::atomic<std::uint64_t>*>(base_ + (at & ~std::size_t{7}) % size_);
    place->store(value);
  }
  [[nodiscard]] ring_control& control(bool of_creator) const noexcept {
    return reinterpret_cast<ring_control*>(base_)[of_creator ? 0 : 1];
  }

 private:
  char* base_;
  std::size_t size_;
};

}  // namespace quintet::shm
