// SPDX-License-Identifier: BSL-1.0
// hashes.cpp: checksums of messages, and the time that they take.
#include "probe/hashes.hpp"

#include <quintet/base/encoding/checksum.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "load/clock.hpp"
#include "options.hpp"
#include "probe/median.hpp"

namespace quintet::bench {
namespace {

constexpr std::size_t least_bytes = 16 * 1024;
constexpr double stretch_seconds = 500e-6;  // reading the thread's CPU time is a system call

template <class Word>
constexpr std::array<Word, 256> make_table(Word reflected_polynomial) {
  std::array<Word, 256> table{};
  for (std::size_t byte = 0; byte < table.size(); ++byte) {
    auto value = static_cast<Word>(byte);
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1U) ^ ((value & 1U) != 0 ? reflected_polynomial : Word{0});
    table[byte] = value;
  }
  return table;
}

constexpr auto crc32_table = make_table<std::uint32_t>(0xedb88320U);            // CRC-32 of Ethernet and zlib
constexpr auto crc64_table = make_table<std::uint64_t>(0xc96c5795d7870f42ULL);  // ECMA-182, reflected: CRC-64/XZ

template <class Table>
std::uint64_t crc(const Table& table, bytes data) {
  using word = std::remove_cvref_t<decltype(table.at(0))>;
  word sum = ~word{0};
  for (const char c : data)
    sum = table.at(static_cast<std::uint8_t>(sum ^ static_cast<unsigned char>(c))) ^ (sum >> 8U);
  return static_cast<word>(~sum);
}

template <const auto& Table>
std::uint64_t crc_by_table(bytes data) {
  return crc(Table, data);
}

// A balanced tree instead of an array, as in the published comparison: each byte waits for about eight nodes.
template <const auto& Table>
std::uint64_t crc_by_map(bytes data) {
  static const auto tree = [] {
    std::map<std::uint8_t, typename std::remove_cvref_t<decltype(Table)>::value_type> out;
    for (std::size_t byte = 0; byte < Table.size(); ++byte) out.emplace(static_cast<std::uint8_t>(byte), Table[byte]);
    return out;
  }();
  return crc(tree, data);
}

// One load. g++ 12 compiles decode_number() to a loop over the bytes, which would slow the hashes of others.
template <class Word>
Word load(bytes from) {
  Word value;
  std::memcpy(&value, from.data(), sizeof value);
  return value;
}

#if defined(__x86_64__)
[[gnu::target("sse4.2")]] std::uint64_t crc32c(bytes data) {
  std::uint64_t sum = 0xffffffffU;
  for (; data.size() >= 8; data.remove_prefix(8)) sum = __builtin_ia32_crc32di(sum, load<std::uint64_t>(data));
  auto low = static_cast<std::uint32_t>(sum);
  for (const char c : data) low = __builtin_ia32_crc32qi(low, static_cast<unsigned char>(c));
  return static_cast<std::uint32_t>(~low);
}
auto crc32c_if_supported() { return __builtin_cpu_supports("sse4.2") ? crc32c : nullptr; }
#else
constexpr std::nullptr_t crc32c_if_supported() { return nullptr; }
#endif

std::uint64_t unseeded_murmur3(bytes data) { return murmur3(data, 0); }

constexpr std::uint32_t scramble(std::uint32_t block) { return std::rotl(block * 0xcc9e2d51U, 15) * 0x1b873593U; }

std::string random_bytes(std::size_t size) {
  std::mt19937_64 random(size);
  std::string out(size, '\0');
  for (char& c : out) c = static_cast<char>(random() & 0xffU);
  return out;
}

}  // namespace

std::uint32_t murmur3(bytes data, std::uint32_t seed) {
  std::uint32_t sum = seed;
  const auto size = static_cast<std::uint32_t>(data.size());
  for (; data.size() >= 4; data.remove_prefix(4))
    sum = std::rotl(sum ^ scramble(load<std::uint32_t>(data)), 13) * 5 + 0xe6546b64U;
  std::uint32_t rest = 0;
  for (std::size_t i = data.size(); i-- > 0;) rest = rest << 8U | static_cast<unsigned char>(data[i]);
  sum ^= scramble(rest) ^ size;
  sum = (sum ^ sum >> 16U) * 0x85ebca6bU;
  sum = (sum ^ sum >> 13U) * 0xc2b2ae35U;
  return sum ^ sum >> 16U;
}

std::span<const hash_kind> hash_kinds() {
  static const std::array<hash_kind, 7> kinds{{{"map-crc32", crc_by_map<crc32_table>},
                                               {"map-crc64", crc_by_map<crc64_table>},
                                               {"crc32", crc_by_table<crc32_table>},
                                               {"crc64", crc_by_table<crc64_table>},
                                               {"murmur3", unseeded_murmur3},
                                               {"crc32c", crc32c_if_supported()},
                                               {"xxh3", checksum}}};
  return kinds;
}

hash_kind find_hash(std::string_view name) {
  std::vector<std::string_view> names;
  for (const hash_kind& kind : hash_kinds()) {
    if (kind.name == name) return kind;
    names.push_back(kind.name);
  }
  throw usage_error(fmt::format("\"{}\" is not a hash; it must be one of: {}", name, fmt::join(names, ", ")));
}

double measure_hash(const hash_kind& kind, std::size_t size, std::chrono::nanoseconds how_long) {
  const std::string data = random_bytes(std::max(size, least_bytes));
  const std::size_t messages = data.size() / size;
  const auto seconds_of = [&](std::size_t passes) {
    const double begun = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
    for (std::size_t pass = 0; pass < passes; ++pass)
      for (std::size_t i = 0; i < messages; ++i) kind.function(bytes(data).substr(i * size, size));
    return cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - begun;
  };
  std::size_t passes = 1;
  while (seconds_of(passes) < stretch_seconds) passes *= 2;  // it also warms cache and predictor
  return median_within(how_long, [&] { return seconds_of(passes) * 1e9 / static_cast<double>(passes * messages); });
}

}  // namespace quintet::bench
