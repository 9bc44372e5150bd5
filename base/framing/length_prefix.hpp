// SPDX-License-Identifier: BSL-1.0
// length_prefix: messages after their length, a number of 1 to 8 bytes or a varint.
#pragma once

#include "../encoding/integers.hpp"
#include "frame.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace quintet {

namespace detail {

/// Returns the frame of a message of known length. Rejects a length above `max` before any byte of it arrives.
inline frame frame_of(bytes in, std::size_t header, std::uint64_t length, std::size_t max) noexcept {
  if (length > max) return frame::failed(errc::message_too_big);
  const std::size_t total = header + static_cast<std::size_t>(length);
  if (in.size() < total) return frame::incomplete(total);
  return frame::complete(in.substr(header, static_cast<std::size_t>(length)), total);
}

}  // namespace detail

/// `length_prefix<4>`, `length_prefix<2, std::endian::little>`: the length of the message alone, then the message,
/// which may be empty. A message longer than `max_size` is errc::message_too_big at both ends.
template <std::size_t Width, std::endian Order = std::endian::big>
  requires(Width >= 1 && Width <= 8)
class length_prefix {
 public:
  /// Accepts any limit; see max_size().
  explicit constexpr length_prefix(std::size_t max_size = default_max_message) noexcept : max_(max_size) {}

  /// Returns the requested limit, or less if the prefix cannot express it.
  [[nodiscard]] constexpr std::size_t max_size() const noexcept {
    return static_cast<std::size_t>(
        std::min({std::uint64_t{max_}, std::uint64_t{largest_max_message}, largest_number(Width)}));
  }
  [[nodiscard]] constexpr length_prefix widened(std::size_t by) const noexcept {
    return length_prefix(std::min(max_, largest_max_message) + by);
  }

  [[nodiscard]] frame parse(bytes in) const noexcept {
    if (in.size() < Width) return frame::incomplete(Width);
    return detail::frame_of(in, Width, decode_number<Width, Order>(in), max_size());
  }
  template <class Message>
  [[nodiscard]] error_code wrap(Message& m) const {
    if (m.size() > max_size()) return errc::message_too_big;
    const auto length = encode_number<Width, Order>(m.size());
    m.prepend({length.data(), length.size()});
    return {};
  }

 private:
  std::size_t max_;
};

/// The same with a length of variable width (unsigned LEB128, as in Protocol Buffers): one byte up to 127. A length
/// with needless bytes, or with more than 64 bits, is errc::malformed_message.
class varint_prefix {
 public:
  /// Uses `largest_max_message` for a higher limit.
  explicit constexpr varint_prefix(std::size_t max_size = default_max_message) noexcept
      : max_(std::min(max_size, largest_max_message)) {}

  /// Returns the largest message.
  [[nodiscard]] constexpr std::size_t max_size() const noexcept { return max_; }
  [[nodiscard]] constexpr varint_prefix widened(std::size_t by) const noexcept { return varint_prefix(max_ + by); }

  [[nodiscard]] frame parse(bytes in) const noexcept {
    const auto length = decode_varint(in);
    if (!length) return frame::failed(errc::malformed_message);
    if (length->size == 0) return frame::incomplete(in.size() + 1);
    return detail::frame_of(in, length->size, length->value, max_);
  }
  template <class Message>
  [[nodiscard]] error_code wrap(Message& m) const {
    if (m.size() > max_) return errc::message_too_big;
    m.prepend(encode_varint(m.size()).data());
    return {};
  }

 private:
  std::size_t max_;
};

}  // namespace quintet
