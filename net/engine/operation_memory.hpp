// SPDX-License-Identifier: BSL-1.0
// operation_memory: room for the one operation of Asio's of its kind that may be outstanding.
#pragma once

#include <cstddef>
#include <new>

namespace quintet {

/// Asio gives an operation's memory back before it calls the handler, which may start the next one in it.
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
  alignas(std::max_align_t) std::byte room_[128];  // a wait of Boost 1.81 takes 88
  bool in_use_ = false;
};

/// What a handler names as its allocator_type.
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
