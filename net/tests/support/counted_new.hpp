// SPDX-License-Identifier: BSL-1.0
// counted_new: operator new and delete that count. For one source file of a test program; not under sanitizers.
#pragma once

#include <quintet/base/build/sanitizers.hpp>

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#include <malloc.h>

namespace quintet::test {

inline std::atomic<std::size_t> allocations{0};  ///< since the program began
inline std::atomic<std::size_t> heap_bytes{0};   ///< allocated now, measured by footprint()

/// Returns the size rounded up to 16 bytes. For glibc that includes its word before each block; tcmalloc has none.
/// tcmalloc allocates while it answers for the first time; that allocation is not counted.
inline std::size_t footprint(void* memory) noexcept {
  static thread_local bool asking = false;
  if (asking) return 0;
  asking = true;
  const std::size_t size = (malloc_usable_size(memory) + 15) / 16 * 16;
  asking = false;
  return size;
}

/// BOOST_TEST_DECORATOR(*boost::unit_test::precondition(can_count))
inline boost::test_tools::assertion_result can_count(boost::unit_test::test_unit_id) { return !sanitized; }

}  // namespace quintet::test

#if !QUINTET_ADDRESS_SANITIZER && !QUINTET_THREAD_SANITIZER
// Defines the array forms too, because those of tcmalloc do not call the single forms. Not inlined: the compiler would
// see new and free as a mismatched pair.
[[gnu::noinline]] void* operator new(std::size_t size) {
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (!memory) throw std::bad_alloc();
  quintet::test::allocations.fetch_add(1, std::memory_order_relaxed);
  quintet::test::heap_bytes.fetch_add(quintet::test::footprint(memory), std::memory_order_relaxed);
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  if (!memory) return;
  quintet::test::heap_bytes.fetch_sub(quintet::test::footprint(memory), std::memory_order_relaxed);
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
[[gnu::noinline]] void* operator new[](std::size_t size) { return operator new(size); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { operator delete(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { operator delete(memory); }
#endif
