// SPDX-License-Identifier: BSL-1.0
// frame_cache_test: a thread reuses its blocks by size class; other threads may release them.
#include <quintet/base/memory/frame_cache.hpp>

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <cstring>
#include <new>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace quintet {
namespace {

using blocks = std::vector<std::pair<void*, std::size_t>>;

/// Allocates and fills a block. A sanitizer reports a block that is too small; the tests see one handed out twice.
void* filled(std::size_t size, int with) {
  void* frame = frame_cache::allocate(size);
  std::memset(frame, with, size);
  return frame;
}

BOOST_AUTO_TEST_CASE(the_block_released_last_comes_back_first) {
  void* a = filled(200, 1);
  void* b = filled(200, 2);
  BOOST_TEST((a != b));
  frame_cache::release(a, 200);
  frame_cache::release(b, 200);
  void* first = frame_cache::allocate(200);
  void* second = frame_cache::allocate(200);
  BOOST_TEST((first == b));
  BOOST_TEST((second == a));
  frame_cache::release(first, 200);
  frame_cache::release(second, 200);
}

BOOST_AUTO_TEST_CASE(sizes_of_one_class_share_blocks) {
  void* a = filled(129, 1);  // sizes 129 to 192 are one class
  frame_cache::release(a, 129);
  void* b = filled(192, 2);
  BOOST_TEST((a == b));
  void* other = filled(193, 3);
  BOOST_TEST((other != b));
  frame_cache::release(b, 192);
  frame_cache::release(other, 193);
}

BOOST_AUTO_TEST_CASE(every_size_is_aligned_and_writable) {
  blocks all;
  for (std::size_t size = 1; size < 6000; size += 13) {
    all.emplace_back(filled(size, static_cast<int>(size % 251)), size);
    BOOST_REQUIRE(reinterpret_cast<std::uintptr_t>(all.back().first) % __STDCPP_DEFAULT_NEW_ALIGNMENT__ == 0u);
  }
  for (const auto& [frame, size] : all) {
    const auto* bytes = static_cast<const unsigned char*>(frame);
    BOOST_REQUIRE(bytes[0] == size % 251);
    BOOST_REQUIRE(bytes[size - 1] == size % 251);
    frame_cache::release(frame, size);
  }
}

BOOST_AUTO_TEST_CASE(more_than_are_kept_may_be_released) {
  for (int round = 0; round < 3; ++round) {
    blocks all;
    std::set<void*> distinct;
    for (int i = 0; i < 500; ++i) {
      all.emplace_back(filled(300, i % 256), 300);
      distinct.insert(all.back().first);
    }
    BOOST_TEST(distinct.size() == all.size());
    for (const auto& [frame, size] : all) frame_cache::release(frame, size);
  }
}

// Frames are created on one thread and destroyed on another, which may end before the first.
BOOST_AUTO_TEST_CASE(blocks_may_be_released_by_another_thread) {
  for (int round = 0; round < 20; ++round) {
    blocks here, there;
    for (int i = 0; i < 100; ++i) here.emplace_back(filled(500, 1), 500);
    std::thread other([&] {
      for (const auto& [frame, size] : here) frame_cache::release(frame, size);
      for (int i = 0; i < 100; ++i) there.emplace_back(filled(700, 2), 700);
    });
    other.join();
    for (const auto& [frame, size] : there) frame_cache::release(frame, size);
  }
  BOOST_TEST_PASSPOINT();  // AddressSanitizer reports leaks and double frees
}

// Other thread-locals may release frames after the thread's own lists have been destroyed.
BOOST_AUTO_TEST_CASE(a_block_may_be_released_while_its_thread_ends) {
  struct late {
    void* frame = nullptr;
    ~late() {
      if (frame) frame_cache::release(frame, 100);
    }
  };
  std::thread([] {
    thread_local late before_the_lists;  // constructed first, so destroyed last
    before_the_lists.frame = nullptr;
    before_the_lists.frame = filled(100, 1);
  }).join();
  BOOST_TEST_PASSPOINT();
}

}  // namespace
}  // namespace quintet
