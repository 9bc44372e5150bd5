// SPDX-License-Identifier: BSL-1.0
// operation_memory: a memory slot for one outstanding Asio operation.
#pragma once

#include <cstddef>
#include <new>

namespace quintet {

/// One slot suffices: Asio frees an operation's memory before calling the handler, whose next operation reuses it.
class operation_memory {
 public:
  operation_memory() noexcept = default;
  operation_memory(const operation_memory&) = delete;
  operation_memory& operator=(const operation_memory&) = delete;

  [[nodiscard]] void* allocate(std::size_t size) {
    if (in_use_ || size > sizeof room_) return ::operator new(size);
    in_use_ = true;
    return room_;
  }
  void deallocate(void* memory) noexcept {
    if (memory == room_)
      in_use_ = false;
    else
      ::operator delete(memory);
  }

 private:
  alignas(std::max_align_t) std::byte room_[128];  // Boost 1.81 needs 88 bytes for a wait
  bool in_use_ = false;
};

/// The allocator_type of a handler: allocates from an operation_memory.
template <class T>
class operation_allocator {
 public:
  using value_type = T;
  explicit operation_allocator(operation_memory& memory) noexcept : memory_(&memory) {}
  template <class Other>
  operation_allocator(const operation_allocator<Other>& other) noexcept : memory_(other.memory_) {}

  [[nodiscard]] T* allocate(std::size_t count) { return static_cast<T*>(memory_->allocate(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t) noexcept { memory_->deallocate(memory); }
  friend bool operator==(const operation_allocator& a, const operation_allocator& b) noexcept {
    return a.memory_ == b.memory_;
  }

 private:
  template <class>
  friend class operation_allocator;
  operation_memory* memory_;
};

}  // namespace quintet
