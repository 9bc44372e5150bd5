// SPDX-License-Identifier: BSL-1.0
// kv_store_test: no choice of keys makes lookups in kv's store slow, and the store keeps its limit.
#include "kv/session.hpp"
#include "kv/store.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
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
  for (std::size_t n = 0; n < key_count; ++n) BOOST_TEST_REQUIRE(bool(store.get(colliding_key(n))));
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

BOOST_AUTO_TEST_CASE(a_reader_keeps_what_it_has_got_whatever_follows) {
  constexpr std::size_t small = kv::value::small;
  kv::store store;
  std::string earlier = "first";
  store.set("key", earlier);
  for (const std::size_t size :
       {std::size_t{3}, small, small + 1, std::size_t{0}, 3 * small, 2 * small, small, small}) {
    const kv::value read = store.get("key");
    const std::string next(size, static_cast<char>('a' + size % 26));
    store.set("key", next);
    BOOST_TEST(*read == earlier);
    BOOST_TEST(*store.get("key") == next);
    BOOST_TEST(store.held() == kv::store::entry_cost + 3 + size);
    earlier = next;
  }
  store.set("key", "41");
  const kv::value number = store.get("key");
  BOOST_TEST((store.increment("key").first == 42));
  BOOST_TEST(*number == "41");
  store.set("key", std::string(2 * small, '1'));
  BOOST_TEST((store.increment("key").second == kv::store::increment_error::not_a_number));
}

struct timed {
  quintet::manual_clock clock;
  kv::store store;
  explicit timed(std::size_t most = SIZE_MAX) : store(most, clock) {}
  auto set(kv::bytes key, kv::bytes value, std::chrono::milliseconds lifetime) {
    return store.set(key, value, {.lifetime = lifetime});
  }
};
using namespace std::chrono_literals;
using result = kv::store::set_result;
using when = kv::set_options::when;

BOOST_AUTO_TEST_CASE(a_value_is_gone_at_the_end_of_its_lifetime) {
  timed t;
  for (const char* key : {"a", "b", "c", "d"}) BOOST_TEST((t.set(key, "1", 10ms) == result::stored));
  t.clock.advance(9ms);
  BOOST_TEST(*t.store.get("a") == "1");
  BOOST_TEST(t.store.set("b", "2"));                      // without a lifetime
  BOOST_TEST((t.set("c", "3", 10ms) == result::stored));  // with another one
  BOOST_TEST((t.store.increment("d", 5).first == 6));     // keeps it
  t.clock.advance(1ms);
  BOOST_TEST(!t.store.get("a"));
  BOOST_TEST(!t.store.erase("a"));
  BOOST_TEST(*t.store.get("b") == "2");
  BOOST_TEST(*t.store.get("c") == "3");
  BOOST_TEST((t.store.increment("d", 5).first == 5));  // a new key
  t.clock.advance(9ms);
  const auto counted = t.store.count();
  BOOST_TEST(counted.keys == 2U);
  BOOST_TEST(counted.with_lifetime == 0U);
  t.store.clear();
  BOOST_TEST(t.store.held() == 0U);
}

BOOST_AUTO_TEST_CASE(conditions_see_what_is_there_now) {
  timed t;
  BOOST_TEST((t.store.set("a", "1", {.condition = when::key_exists}) == result::condition_failed));
  BOOST_TEST((t.store.set("a", "1", {.condition = when::key_is_new, .lifetime = 10ms}) == result::stored));
  BOOST_TEST((t.store.set("a", "2", {.condition = when::key_is_new}) == result::condition_failed));
  t.clock.advance(10ms);
  BOOST_TEST((t.store.set("a", "3", {.condition = when::key_exists}) == result::condition_failed));
  BOOST_TEST((t.store.set("a", "4", {.condition = when::key_is_new}) == result::stored));
  BOOST_TEST((t.store.set("a", "5", {.condition = when::key_exists}) == result::stored));
  BOOST_TEST(*t.store.get("a") == "5");
}

BOOST_AUTO_TEST_CASE(what_has_ended_makes_room) {
  constexpr std::size_t each = 1 + kv::store::entry_cost + kv::store::timer_cost;
  timed t(2 * each);
  BOOST_TEST((t.set("a", "", 10ms) == result::stored));
  BOOST_TEST((t.set("b", "", 10ms) == result::stored));
  BOOST_TEST(t.store.held() == 2 * each);
  BOOST_TEST((t.set("c", "", 10ms) == result::store_full));
  BOOST_TEST(!t.store.set("c", ""));
  BOOST_TEST(t.store.held() == 2 * each);
  t.clock.advance(10ms);
  BOOST_TEST(t.store.set("c", ""));
  BOOST_TEST(t.store.held() == 1 + kv::store::entry_cost);
}

BOOST_AUTO_TEST_CASE(numbers_are_added_within_their_range) {
  kv::store store;
  BOOST_TEST((store.increment("n", INT64_MIN).first == INT64_MIN));
  BOOST_TEST((store.increment("n", -1).second == kv::store::increment_error::overflow));
  BOOST_TEST((store.increment("n", INT64_MAX).first == -1));
  BOOST_TEST((store.increment("n", -41).first == -42));
}

BOOST_AUTO_TEST_CASE(the_totals_fit_several_of_the_largest_requests_and_replies) {
  quintet::connection_limits each;
  quintet::memory_limits all{.max_output_total = 1, .max_input_total = 1};
  constexpr std::size_t largest = 512U << 20U;
  kv::set_sizes(each, all, {.bulk = largest, .request = 2 * largest});
  BOOST_TEST(each.max_input >= 2 * largest);
  BOOST_TEST(all.max_input_total >= 4 * each.max_input);
  BOOST_TEST(all.max_output_total >= 4 * each.max_output);
}

}  // namespace
