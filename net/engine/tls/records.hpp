// SPDX-License-Identifier: BSL-1.0
// records: where TLS records begin and end.
#pragma once

#include "../../../base/error.hpp"
#include "../../../base/memory/byte_buffer.hpp"

#include <cstddef>

namespace quintet::tls {

inline constexpr std::size_t header_size = 5;
inline constexpr std::size_t longest_plain = 16 * 1024;              // of one record
inline constexpr std::size_t longest_record = longest_plain + 2048;  // behind the header, encrypted (RFC 5246)
/// The most bytes that a record, with a key update before it, adds to its plain bytes: today 29 and 27.
inline constexpr std::size_t most_overhead = 128;

[[nodiscard]] constexpr std::size_t byte_at(bytes of, std::size_t i) noexcept {
  return static_cast<unsigned char>(of[i]);
}
/// Returns the length behind the header of the record at the beginning of `in`, which has a whole header.
[[nodiscard]] constexpr std::size_t length_of_first(bytes in) noexcept { return byte_at(in, 3) << 8U | byte_at(in, 4); }
/// Returns the size of the first record; 0: it is not whole.
[[nodiscard]] constexpr std::size_t size_of_first(bytes in) noexcept {
  if (in.size() < header_size) return 0;
  const std::size_t size = header_size + length_of_first(in);
  return in.size() < size ? 0 : size;
}
/// Returns whether no record begins so: a type from 20 to 23, version 3.x.
[[nodiscard]] constexpr bool is_no_record(bytes in) noexcept {
  return (!in.empty() && (byte_at(in, 0) < 20 || byte_at(in, 0) > 23)) || (in.size() > 1 && byte_at(in, 1) != 3);
}
/// Returns whether the first record is longer than any may be. Its header suffices.
[[nodiscard]] constexpr bool is_too_long(bytes in) noexcept {
  return in.size() >= header_size && length_of_first(in) > longest_record;
}

}  // namespace quintet::tls
