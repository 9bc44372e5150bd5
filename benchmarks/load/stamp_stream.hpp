// SPDX-License-Identifier: BSL-1.0
// stamp_stream.hpp: requests of the workload `timestamp` on one connection: the time in microseconds.
#pragma once

#include "workloads.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace quintet::bench {

/// Remembers the messages in progress, at most `max_in_flight`. All requests of a connection differ, so the check
/// detects a reply to another request.
class stamp_stream {
 public:
  static constexpr std::size_t message_bytes = header_bytes;

  explicit stamp_stream(std::size_t max_in_flight) : stamps_(max_in_flight) {}

  /// Writes the bytes [position, position + length) to `out`. A message that begins here gets the current time, even if
  /// an earlier call already stamped it but none of it was sent.
  void produce(std::uint64_t position, char* out, std::size_t length) {
    const auto now = microseconds_now();
    each_piece(
        position, length, 0,
        [&](std::uint64_t message, std::size_t at) {
          if (at == 0) stamps_[message % stamps_.size()] = latest_ = std::max(now, latest_ + 1);
        },
        [&](std::string_view piece) {
          std::memcpy(out, piece.data(), piece.size());
          out += piece.size();
        });
  }

  /// Returns true if `in` is the correct reply at `position`: each time plus one.
  bool matches(std::uint64_t position, std::string_view in) const {
    bool same = true;
    const char* from = in.data();
    each_piece(
        position, in.size(), 1, [](std::uint64_t, std::size_t) {},
        [&](std::string_view wanted) {
          same &= std::memcmp(from, wanted.data(), wanted.size()) == 0;
          from += wanted.size();
        });
    return same;
  }

 private:
  static std::uint64_t microseconds_now() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
  }

  template <class Begin, class Use>
  void each_piece(std::uint64_t position, std::size_t length, std::uint64_t added, Begin begin, Use use) const {
    while (length != 0) {
      const std::uint64_t message = position / message_bytes;
      const std::size_t at = position % message_bytes;
      begin(message, at);
      char bytes[message_bytes];
      store_big_endian_64(bytes, stamps_[message % stamps_.size()] + added);
      const std::size_t n = std::min(length, message_bytes - at);
      use(std::string_view(bytes + at, n));
      position += n;
      length -= n;
    }
  }

  std::vector<std::uint64_t> stamps_;  ///< stamp of message m, at m % size
  std::uint64_t latest_ = 0;
};

}  // namespace quintet::bench
