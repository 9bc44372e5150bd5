// SPDX-License-Identifier: BSL-1.0
// frame_cache: per thread, a bounded free list for each size class of 64 bytes.
#include "frame_cache.hpp"

#include <array>
#include <new>

namespace quintet::frame_cache {
namespace {

constexpr std::size_t granule = 64;
constexpr std::size_t classes = 64;       // frames up to 4 KiB are recycled
constexpr std::size_t longest_list = 64;  // blocks kept in each class

struct free_block {
  free_block* next;
};

struct free_list {
  free_block* head = nullptr;
  std::size_t length = 0;
};

struct thread_lists {
  std::array<free_list, classes> lists;
  ~thread_lists() {
    for (free_list& list : lists) {
      while (free_block* block = list.head) {
        list.head = block->next;
        ::operator delete(block);
      }
      list.length = longest_list;  // a frame released later, by another thread-local's destructor, goes to the heap
    }
  }
};

thread_local thread_lists cache;

constexpr std::size_t class_of(std::size_t size) noexcept { return (size - 1) / granule; }

}  // namespace

void* allocate(std::size_t size) {
  const std::size_t c = class_of(size);
  if (c >= classes) return ::operator new(size);
  free_list& list = cache.lists[c];
  if (!list.head) return ::operator new((c + 1) * granule);
  free_block* block = list.head;
  list.head = block->next;
  --list.length;
  return block;
}

void release(void* frame, std::size_t size) noexcept {
  const std::size_t c = class_of(size);
  if (c >= classes || cache.lists[c].length >= longest_list) return ::operator delete(frame);
  free_list& list = cache.lists[c];
  list.head = ::new (frame) free_block{list.head};
  ++list.length;
}

}  // namespace quintet::frame_cache
