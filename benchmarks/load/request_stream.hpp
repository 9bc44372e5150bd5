// SPDX-License-Identifier: BSL-1.0
// request_stream.hpp: the bytes of one connection as a function of their position, for sending and checking.
#pragma once

#include "workloads.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace quintet::bench {

/// Source of message bodies, shared by all connections. Each message starts at another offset, so the check detects a
/// shifted reply and a reply to another request.
class message_pattern {
 public:
  explicit message_pattern(std::size_t message_bytes) : bytes_(message_bytes + offsets, '\0') {
    std::uint64_t state = 0x9e3779b97f4a7c15;
    for (char& c : bytes_) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      c = static_cast<char>(state >> 56);
    }
  }

  const char* body(std::uint32_t connection, std::uint32_t sequence) const {
    return bytes_.data() + ((connection * 0x9e3779b1u ^ sequence * 0x85ebca6bu) >> (32 - offset_bits));
  }

 private:
  static constexpr unsigned offset_bits = 12;
  static constexpr std::size_t offsets = 1u << offset_bits;
  std::string bytes_;
};

/// The bytes that one connection sends, in order; its replies must be the same. It stores no data: each byte follows
/// from its position. To continue a partial send or reply, a position is enough.
class request_stream {
 public:
  request_stream(const message_pattern& pattern, std::size_t message_bytes, std::uint32_t connection,
                 std::uint32_t first_sequence, std::size_t prefix = 0)
      : pattern_(&pattern),
        size_(message_bytes),
        prefix_(prefix),
        connection_(connection),
        first_sequence_(first_sequence) {}

  std::size_t message_bytes() const { return size_; }
  std::uint32_t sequence(std::uint64_t message) const { return first_sequence_ + static_cast<std::uint32_t>(message); }

  /// Writes the bytes [position, position + length) to `out`.
  void produce(std::uint64_t position, char* out, std::size_t length) const {
    each_piece(position, length, [&](std::string_view wanted) {
      std::memcpy(out, wanted.data(), wanted.size());
      out += wanted.size();
    });
  }

  /// Returns true if the stream has the bytes `in` at `position`.
  bool matches(std::uint64_t position, std::string_view in) const {
    bool same = true;
    const char* from = in.data();
    each_piece(position, in.size(), [&](std::string_view wanted) {
      same &= std::memcmp(from, wanted.data(), wanted.size()) == 0;
      from += wanted.size();
    });
    return same;
  }

 private:
  template <class Use>
  void each_piece(std::uint64_t position, std::size_t length, Use use) const {
    std::uint64_t message = position / size_;
    std::size_t at = position % size_;
    const std::size_t head = prefix_ + header_bytes;
    while (length != 0) {
      const std::uint32_t number = sequence(message);
      if (at < head) {
        char header[most_prefix_bytes + header_bytes];
        for (std::size_t i = 0; i < prefix_; ++i)
          header[i] = static_cast<char>((size_ - prefix_) >> 8 * (prefix_ - 1 - i));
        store_big_endian(header + prefix_, connection_);
        store_big_endian(header + prefix_ + 4, number);
        const std::size_t n = std::min(length, head - at);
        use(std::string_view(header + at, n));
        length -= n;
        at += n;
      }
      if (const std::size_t n = std::min(length, size_ - at); n != 0) {
        use(std::string_view(pattern_->body(connection_, number) + (at - head), n));
        length -= n;
      }
      at = 0;
      ++message;
    }
  }

  static constexpr std::size_t most_prefix_bytes = 8;
  const message_pattern* pattern_;
  std::size_t size_, prefix_;
  std::uint32_t connection_;
  std::uint32_t first_sequence_;
};

}  // namespace quintet::bench
