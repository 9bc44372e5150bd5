// SPDX-License-Identifier: BSL-1.0
// hashes_test.cpp: each hash gives its published values, and a table gives what a map does.
#include "probe/hashes.hpp"
#include "options.hpp"

#include <quintet/base/encoding/integers.hpp>

#include <boost/test/unit_test.hpp>

#include <iostream>
#include <random>
#include <string>

using namespace quintet::bench;
using quintet::bytes;

namespace {

std::uint64_t hash(std::string_view kind, bytes data) { return find_hash(kind).function(data); }

bool is_supported(std::string_view kind) { return find_hash(kind).function != nullptr; }

}  // namespace

BOOST_AUTO_TEST_SUITE(hashes)

BOOST_AUTO_TEST_CASE(each_crc_has_its_published_check_value) {
  const bytes digits = "123456789";
  BOOST_TEST(hash("crc32", digits) == 0xcbf43926U);
  BOOST_TEST(hash("map-crc32", digits) == 0xcbf43926U);
  BOOST_TEST(hash("crc64", digits) == 0x995dc9bbdf1939faU);  // CRC-64/XZ
  BOOST_TEST(hash("map-crc64", digits) == 0x995dc9bbdf1939faU);
  if (!is_supported("crc32c")) {
    std::cout << "skipped: this CPU has no instruction for CRC32C\n";
    return;
  }
  BOOST_TEST(hash("crc32c", digits) == 0xe3069283U);
  BOOST_TEST(hash("crc32c", std::string(32, '\0')) == 0x8a9136aaU);  // RFC 3720, B.4
}

BOOST_AUTO_TEST_CASE(murmur3_has_its_published_values) {
  BOOST_TEST(hash("murmur3", "") == 0U);
  BOOST_TEST(hash("murmur3", "hello") == 0x248bfa47U);
  BOOST_TEST(hash("murmur3", "hello, world") == 0x149bbb7fU);
}

// SMHasher's verification: the keys "", {0}, {0, 1} ... with the seeds 256, 255 ..., then the hash of all these hashes.
BOOST_AUTO_TEST_CASE(murmur3_is_right_for_each_remainder_and_seed) {
  std::string key, found;
  for (std::uint32_t i = 0; i < 256; ++i) {
    for (const char c : quintet::encode_number<4, std::endian::little>(murmur3(key, 256 - i))) found += c;
    key += static_cast<char>(i);
  }
  BOOST_TEST(murmur3(found, 0) == 0xb0f57ee3U);
}

BOOST_AUTO_TEST_CASE(xxh3_is_the_librarys_checksum) { BOOST_TEST(hash("xxh3", "") == 0x2d06800538d394c2U); }

BOOST_AUTO_TEST_CASE(a_map_and_a_table_give_the_same) {
  std::mt19937 random(1);
  std::string data;
  for (int i = 0; i < 300; ++i) {
    BOOST_TEST_REQUIRE(hash("map-crc32", data) == hash("crc32", data));
    BOOST_TEST_REQUIRE(hash("map-crc64", data) == hash("crc64", data));
    data += static_cast<char>(random() & 0xffU);
  }
}

BOOST_AUTO_TEST_CASE(each_kind_takes_time) {
  for (const hash_kind& kind : hash_kinds()) {
    if (kind.function == nullptr) continue;
    BOOST_TEST(measure_hash(kind, 64, std::chrono::milliseconds(1)) > 0);
    BOOST_TEST(measure_hash(kind, 20'000, std::chrono::milliseconds(1)) > 0);
  }
}

BOOST_AUTO_TEST_CASE(an_unknown_kind_is_refused_with_all_names) {
  BOOST_CHECK_EXCEPTION(find_hash("md5"), usage_error, [](const usage_error& e) {
    return std::string(e.what()) ==
           "\"md5\" is not a hash; it must be one of: map-crc32, map-crc64, crc32, crc64, murmur3, crc32c, xxh3";
  });
}

BOOST_AUTO_TEST_SUITE_END()
