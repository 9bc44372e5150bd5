// SPDX-License-Identifier: BSL-1.0
// buffer_cache_test: storage is recycled, and is empty when it is reused; large and surplus storage is freed; spares
// follow the need.
#include <quintet/base/memory/byte_buffer.hpp>

#include <boost/test/unit_test.hpp>

#include <set>
#include <string>
#include <vector>

namespace quintet {
namespace {

/// Returns the address of an empty buffer's bytes. Equal addresses mean equal storage.
const void* place_of(cached_buffer& b) {
  b.append("x");
  const char* place = b.data().data();
  b.clear();
  return place;
}

BOOST_AUTO_TEST_CASE(without_storage_it_reads_as_empty) {
  cached_buffer b;
  BOOST_TEST(!b.has_storage());
  BOOST_TEST(b.empty());
  BOOST_TEST(b.size() == 0u);
  BOOST_TEST(b.data() == "");
  b.consume(0);
  b.clear();
  BOOST_TEST(!b.has_storage());
}

BOOST_AUTO_TEST_CASE(appending_needs_no_cache) {
  cached_buffer b;
  b.append("alone");
  BOOST_TEST(b.has_storage());
  BOOST_TEST(b.data() == "alone");
  b.consume(2);
  BOOST_TEST(b.data() == "one");
}

BOOST_AUTO_TEST_CASE(storage_that_is_given_back_is_handed_out_again) {
  buffer_cache cache;
  cached_buffer a, b;
  cache.allocate(a);
  BOOST_TEST(a.has_storage());
  BOOST_TEST(a.empty());
  const void* place = place_of(a);
  cache.recycle(a);
  BOOST_TEST(!a.has_storage());
  cache.allocate(b);
  BOOST_TEST(place_of(b) == place);
}

BOOST_AUTO_TEST_CASE(allocating_twice_changes_nothing) {
  buffer_cache cache;
  cached_buffer b;
  cache.allocate(b);
  b.append("kept");
  cache.allocate(b);
  BOOST_TEST(b.data() == "kept");
}

BOOST_AUTO_TEST_CASE(taking_back_what_has_none_is_harmless) {
  buffer_cache cache;
  cached_buffer b;
  cache.recycle(b);
  BOOST_TEST(!b.has_storage());
}

// Bytes of one connection must never be sent on another one.
BOOST_AUTO_TEST_CASE(what_was_left_in_it_is_gone) {
  buffer_cache cache;
  cached_buffer failed, next;
  cache.allocate(failed);
  failed.append("a secret");
  cache.recycle(failed);
  cache.allocate(next);
  BOOST_TEST(next.empty());
  next.append("mine");
  BOOST_TEST(next.data() == "mine");
}

BOOST_AUTO_TEST_CASE(the_last_one_given_is_handed_out_first) {
  buffer_cache cache;
  cached_buffer a, b, c;
  cache.allocate(a);
  cache.allocate(b);
  const void *place_a = place_of(a), *place_b = place_of(b);
  cache.recycle(a);
  cache.recycle(b);
  cache.allocate(c);
  BOOST_TEST(place_of(c) == place_b);
  cache.allocate(a);
  BOOST_TEST(place_of(a) == place_a);
}

BOOST_AUTO_TEST_CASE(a_buffer_that_has_grown_large_is_not_kept) {
  buffer_cache cache;
  cached_buffer large, next;
  cache.allocate(large);
  large.append(std::string(buffer_cache::largest_kept + 1, 'x'));
  cache.recycle(large);
  BOOST_TEST(!large.has_storage());
  cache.allocate(next);
  next.append(std::string(buffer_cache::initial_capacity, 'y'));  // fits in new storage
  BOOST_TEST(next.size() == buffer_cache::initial_capacity);
}

// Without a watcher, the cache keeps spare_buffers buffers and the one used last.
BOOST_AUTO_TEST_CASE(the_number_of_spares_is_bounded) {
  constexpr std::size_t many = buffer_cache::spare_buffers + 10;
  buffer_cache cache;
  std::vector<cached_buffer> buffers(many), holders(many);
  std::set<const char*> places;
  for (cached_buffer& b : buffers) {
    cache.allocate(b);
    b.append(std::string(buffer_cache::largest_kept, 'x'));  // larger than new storage
    places.insert(b.data().data());
  }
  BOOST_TEST(places.size() == many);
  for (cached_buffer& b : buffers) cache.recycle(b);
  std::size_t recycled = 0;
  for (cached_buffer& b : holders) {
    cache.allocate(b);
    const void* before = place_of(b);
    b.append(std::string(buffer_cache::initial_capacity + 1, 'y'));  // moves the bytes only in new storage
    recycled += b.data().data() == before;
  }
  BOOST_TEST(recycled == buffer_cache::spare_buffers + 1);
}

struct noted final : surplus_watcher {
  void on_surplus() noexcept override { ++told; }
  int told = 0;
};

struct link {
  link* next = nullptr;
};

BOOST_AUTO_TEST_CASE(spares_follow_the_need) {
  constexpr std::size_t always = 4;
  noted watcher;
  spare_stack<link> spares(always, &watcher);
  const auto use = [&](std::size_t count) {
    std::vector<link*> out(count);
    for (link*& l : out)
      if (!(l = spares.pop())) l = new link;
    for (link* l : out) spares.push(l);
  };
  use(always + 1);  // one of them is kept for the next use
  BOOST_TEST(watcher.told == 0);
  use(101);  // a burst: all are kept
  BOOST_TEST(watcher.told == 1);
  BOOST_TEST(spares.size() == 100U);
  BOOST_TEST(spares.trim());  // needed since the last call
  BOOST_TEST(spares.size() == 100U);
  use(61);  // 40 were not needed, 36 of them are a surplus
  BOOST_TEST(spares.trim());
  BOOST_TEST(spares.size() == 82U);
  unsigned trims = 0;
  while (spares.trim()) ++trims;
  BOOST_TEST(trims < 8U);
  BOOST_TEST(spares.size() == always);
  use(spare_stack<link>::most + 10);
  BOOST_TEST(spares.size() == spare_stack<link>::most);
  BOOST_TEST(watcher.told == 2);
}

}  // namespace
}  // namespace quintet
