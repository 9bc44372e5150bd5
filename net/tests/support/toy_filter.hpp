// SPDX-License-Identifier: BSL-1.0
// toy_filter: a filter for tests. A record has a length of two bytes, and bytes that are xor-ed with its number.
#pragma once

#include <quintet/net/engine/filter/carried_filter.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>

namespace quintet::testing {

/// A record without bytes ends the stream. The lengths of records are random. Plain bytes for which there is no room
/// stay inside, as those of a TLS library do.
class toy_filter final : public filter {
 public:
  static constexpr std::size_t longest = 16 * 1024;

  explicit toy_filter(unsigned seed) : random_(seed) { plain_.reserve(longest); }

  result decrypt(bytes in, std::span<char> out) noexcept override {
    result r;
    for (;;) {
      const std::size_t count = plain_.copy(out.data() + r.produced, out.size() - r.produced, taken_);
      r.produced += count;
      taken_ += count;
      if (r.produced == out.size() || !next_record(in, r)) return r;
    }
  }

  result encrypt(bytes in, std::span<char> out) noexcept override {
    result r;
    while (r.consumed < in.size() && out.size() - r.produced > header) {
      const std::size_t most = std::min({in.size() - r.consumed, out.size() - r.produced - header, some()});
      put_length(out.data() + r.produced, most);
      std::memcpy(out.data() + r.produced + header, in.data() + r.consumed, most);
      disguise({out.data() + r.produced + header, most}, sent_++);
      r.consumed += most;
      r.produced += header + most;
    }
    return r;
  }

  result finish(std::span<char> out) noexcept override {
    put_length(out.data(), 0);
    return {.produced = header};
  }

  /// Returns the records of a whole text.
  std::string encrypted(bytes text) {
    std::string all(text.size() * (header + 1), '\0');
    all.resize(encrypt(text, all).produced);
    return all;
  }
  std::string finished() {
    std::string last(header, '\0');
    last.resize(finish(last).produced);
    return last;
  }

 private:
  static constexpr std::size_t header = 2;

  static void put_length(char* to, std::size_t length) noexcept {
    to[0] = static_cast<char>(length >> 8U);
    to[1] = static_cast<char>(length & 0xFFU);
  }
  std::size_t some() noexcept { return 1 + random_() % (std::size_t{1} << random_() % 15); }

  // By words: sanitizers look at each access.
  static void disguise(std::span<char> text, unsigned char number) noexcept {
    std::uint64_t word = 0;
    const std::uint64_t mask = number * 0x0101010101010101U;
    for (; text.size() >= sizeof word; text = text.subspan(sizeof word)) {
      std::memcpy(&word, text.data(), sizeof word);
      word ^= mask;
      std::memcpy(text.data(), &word, sizeof word);
    }
    for (char& c : text) c = static_cast<char>(c ^ number);
  }

  // Returns whether a record was there.
  bool next_record(bytes in, result& r) noexcept {
    const bytes left = in.substr(r.consumed);
    if (left.size() < header) return false;
    const std::size_t length =
        static_cast<std::size_t>(static_cast<unsigned char>(left[0])) << 8U | static_cast<unsigned char>(left[1]);
    if (length > longest) r.failed = errc::malformed_message;
    r.ended = length == 0;
    if (r.ended) r.consumed += header;
    if (r.failed || r.ended || left.size() < header + length) return false;
    plain_.assign(left.substr(header, length));
    disguise(plain_, received_++);
    taken_ = 0;
    r.consumed += header + length;
    return true;
  }

  std::minstd_rand random_;
  unsigned char sent_ = 1, received_ = 1;  // the numbers of records
  std::string plain_;
  std::size_t taken_ = 0;  // of plain_
};

/// Returns the seed of this process: that of QUINTET_TEST_SEED, or another one each time. It is printed.
inline unsigned seed_of_filters() {
  static const unsigned seed = [] {
    const char* const given = std::getenv("QUINTET_TEST_SEED");
    const unsigned s = given ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : std::random_device()();
    std::cerr << "toy_filter: QUINTET_TEST_SEED=" << s << '\n';
    return s;
  }();
  return seed;
}
inline unsigned next_seed() {
  static std::atomic<unsigned> number{0};
  return seed_of_filters() + number++;
}

/// For listener_settings::carry.
inline std::unique_ptr<transport> carry_toy_filter(std::unique_ptr<transport> below) {
  return std::make_unique<carried_filter>(std::make_unique<toy_filter>(next_seed()), std::move(below));
}

}  // namespace quintet::testing
