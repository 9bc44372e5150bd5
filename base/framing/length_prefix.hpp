// SPDX-License-Identifier: BSL-1.0
// length_prefix: messages after their length, a number of 1 to 8 bytes or a varint, and frames with a length inside.
#pragma once

#include "../encoding/integers.hpp"
#include "frame.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace quintet {

namespace detail {

/// Returns the frame of a message of known length. Rejects a length above `max` before any byte of it arrives.
inline frame frame_of(bytes in, std::size_t header, std::uint64_t length, std::size_t max) noexcept {
  if (length > max) return frame::failed(errc::message_too_big);
  const std::size_t total = header + as_size(length);
  if (in.size() < total) return frame::incomplete(total);
  return frame::complete(in.substr(header, as_size(length)), total);
}

}  // namespace detail

/// `length_prefix<4>`, `length_prefix<2, std::endian::little>`: the length of the message alone, then the message,
/// which may be empty. A message longer than `max_size` is errc::message_too_big at both ends.
///
/// Other protocols put bytes before the length, or count more or fewer bytes than those that follow it. `Offset` is the
/// number of bytes before the length. `Adjustment` is added to the length to get the number of bytes after it:
///
///   PostgreSQL   length_prefix<4, std::endian::big, 1, -4>      a type; a length that counts itself; data
///   MongoDB      length_prefix<4, std::endian::little, 0, -4>   a length that counts itself; data
///   MySQL        length_prefix<3, std::endian::little, 0, 1>    a length; a byte that it does not count; data
///   Cassandra    length_prefix<4, std::endian::big, 5>          five bytes; a length; data
///
/// With an `Offset` the message is the whole frame, from its first byte on, and wrap() writes the length over the
/// message's bytes at this place. Without one the message is what follows the length. A length that is too small for
/// what it counts is errc::malformed_message; so is a message that is too short for its frame.
template <std::size_t Width, std::endian Order = std::endian::big, std::size_t Offset = 0, int Adjustment = 0>
  requires(Width >= 1 && Width <= 8 && Offset + Width <= 40 && Adjustment <= 65'535 &&
           Adjustment + static_cast<int>(Offset + Width) >= 0)
class length_prefix {
 public:
  /// Whether messages are whole frames.
  static constexpr bool keeps_header = Offset > 0;

  /// Accepts any limit; see max_size().
  explicit constexpr length_prefix(std::size_t max_size = default_max_message) noexcept : max_(max_size) {}

  /// Returns the requested limit, or less if the length cannot express it.
  [[nodiscard]] constexpr std::size_t max_size() const noexcept {
    return as_size(std::min({std::uint64_t{max_}, std::uint64_t{largest_max_message}, largest_message}));
  }
  [[nodiscard]] constexpr length_prefix widened(std::size_t by) const noexcept
    requires(Offset == 0 && Adjustment <= 0)  // else the frame limits what a message may be
  {
    return length_prefix(std::min(max_, largest_max_message) + by);
  }

  [[nodiscard]] frame parse(bytes in) const noexcept {
    if (in.size() < header) return frame::incomplete(header);
    if constexpr (is_plain) {
      return detail::frame_of(in, Width, decode_number<Width, Order>(in), max_size());
    } else {
      const std::uint64_t length = decode_number<Width, Order>(in.substr(Offset));
      if (length > largest_max_message) return frame::failed(errc::message_too_big);  // so that no sum overflows
      if (length < counted_too) return frame::failed(errc::malformed_message);
      const std::uint64_t size = length - counted_too + added + kept;
      return detail::frame_of(in, header - kept, size, max_size());
    }
  }
  template <class Message>
  [[nodiscard]] error_code wrap(Message& m) const {
    if (m.size() > max_size()) return errc::message_too_big;
    if constexpr (!is_plain)
      if (m.size() < kept + added) return errc::malformed_message;
    const auto length = encode_number<Width, Order>(m.size() - kept - added + counted_too);
    if constexpr (keeps_header) {
      std::array<char, header> first;
      if (!m.take_front(first)) return errc::malformed_message;
      std::copy(length.begin(), length.end(), first.begin() + Offset);
      m.prepend({first.data(), first.size()});
    } else {
      m.prepend({length.data(), length.size()});
    }
    return {};
  }

 private:
  static constexpr bool is_plain = Offset == 0 && Adjustment == 0;
  static constexpr std::size_t header = Offset + Width;           // bytes up to the end of the length
  static constexpr std::size_t kept = keeps_header ? header : 0;  // of them, those that belong to the message
  static constexpr std::size_t counted_too = Adjustment < 0 ? static_cast<std::size_t>(-Adjustment) : 0;
  static constexpr std::size_t added = Adjustment > 0 ? static_cast<std::size_t>(Adjustment) : 0;
  static constexpr std::uint64_t largest_message =
      std::min(std::uint64_t{largest_max_message}, largest_number(Width)) - counted_too + added + kept;

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
