// SPDX-License-Identifier: BSL-1.0
// kv_store_test: no choice of keys makes lookups in kv's store slow, and the store keeps its limit.
#include "kv/store.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>

namespace {

// ---- The inverse of libstdc++'s std::hash of strings: Murmur with a constant seed -----------------------------------

constexpr std::uint64_t mul = 0xc6a4a7935bd1e995U, seed = 0xc70f6907U;

constexpr std::uint64_t inverse_of(std::uint64_t odd) {
  std::uint64_t x = odd;
  for (int i = 0; i < 6; ++i) x *= 2 - odd * x;
  return x;
}
constexpr std::uint64_t shift_mix(std::uint64_t v) { return v ^ v >> 47U; }  // its own inverse
constexpr std::uint64_t mixed(std::uint64_t word) { return shift_mix(word * mul) * mul; }
constexpr std::uint64_t unmixed(std::uint64_t data) { return shift_mix(data * inverse_of(mul)) * inverse_of(mul); }
static_assert(mul * inverse_of(mul) == 1 && unmixed(mixed(12345)) == 12345);

// The second word cancels the first, so that the hashes of all these keys are equal.
std::string colliding_key(std::uint64_t n) {
  const std::uint64_t after_first = ((seed ^ 16 * mul) ^ mixed(n)) * mul;
  const std::uint64_t words[2] = {n, unmixed(after_first)};
  std::string key(sizeof words, '\0');
  std::memcpy(key.data(), words, sizeof words);
  return key;
}

// With some thousand keys in 64 shards, a random bucket has only a few.
constexpr std::size_t key_count = 8192, handful = 12;

BOOST_AUTO_TEST_CASE(keys_of_one_hash_do_not_share_a_bucket) {
  BOOST_REQUIRE_EQUAL(std::hash<kv::bytes>()(colliding_key(1)), std::hash<kv::bytes>()(colliding_key(2)));
  kv::store store;
  for (std::size_t n = 0; n < key_count; ++n) store.set(colliding_key(n), "value");
  BOOST_TEST(store.fullest_bucket() <= handful);
  for (std::size_t n = 0; n < key_count; ++n) BOOST_TEST_REQUIRE(store.get(colliding_key(n)) != nullptr);
}

BOOST_AUTO_TEST_CASE(similar_keys_do_not_share_a_bucket) {
  for (const std::size_t padding : {0U, 5U, 100U, 300U}) {  // XXH3 has a separate code path for each of these lengths
    kv::store store;
    for (std::size_t n = 0; n < key_count; ++n) store.set(std::string(padding, 'x') + std::to_string(n), "value");
    BOOST_TEST(store.fullest_bucket() <= handful);
  }
}

BOOST_AUTO_TEST_CASE(the_store_holds_no_more_than_it_may) {
  constexpr std::size_t most = 10 * (kv::store::entry_cost + 1 + 100);
  const std::string value(100, 'v');
  kv::store store(most);
  for (int i = 0; i < 10; ++i) BOOST_TEST(store.set(std::to_string(i), value));
  BOOST_TEST(store.held() == most);
  BOOST_TEST(!store.set("a", ""));
  BOOST_TEST((store.increment("a").second == kv::store::increment_error::store_full));
  BOOST_TEST(!store.set("0", value + "v"));  // an entry must not grow
  BOOST_TEST(*store.get("0") == value);
  BOOST_TEST(store.set("0", "1"));  // an entry may become smaller
  BOOST_TEST((store.increment("0").first == 2));
  BOOST_TEST(!store.erase("a"));
  for (int i = 0; i < 10; ++i) BOOST_TEST(store.erase(std::to_string(i)));
  BOOST_TEST(store.held() == 0U);
}

}  // namespace
