// SPDX-License-Identifier: BSL-1.0
// envelope: a message that stays where it is, and what codecs put before and behind it.
#pragma once

#include "../bytes.hpp"
#include "../error.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <stdexcept>

namespace quintet {

/// For sending without a copy in between: connection::write() takes its pieces. A message_buffer has the same
/// functions, for a message that is to lie in one piece; codecs wrap either.
class envelope {
 public:
  static constexpr std::size_t header_room = 48;  ///< several headers within each other

  /// `payload` stays the caller's, and has to stay as long as this is used.
  explicit envelope(bytes payload) noexcept : payload_(payload) {}

  /// Of all pieces.
  [[nodiscard]] std::size_t size() const noexcept { return header().size() + payload_.size() + trailer_.size(); }
  [[nodiscard]] bytes header() const noexcept { return {header_.data() + begin_, header_room - begin_}; }
  [[nodiscard]] bytes payload() const noexcept { return payload_; }
  /// Puts bytes before all others, by copying. Throws std::length_error beyond `header_room`.
  void prepend(bytes more) {
    if (more.size() > begin_) throw std::length_error("envelope: more headers than header_room");
    begin_ -= more.size();
    std::memcpy(header_.data() + begin_, more.data(), more.size());
  }
  /// Puts bytes behind, without copying: they have to stay. Once only; else std::length_error.
  void append(bytes more) {
    if (!trailer_.empty()) throw std::length_error("envelope: a second trailer");
    trailer_ = more;
  }
  /// Header, payload, trailer; some may be empty. Valid as long as this object.
  [[nodiscard]] std::array<bytes, 3> pieces() const noexcept { return {header(), payload_, trailer_}; }

 private:
  bytes payload_, trailer_;
  std::size_t begin_ = header_room;
  std::array<char, header_room> header_;  // filled from its end
};

/// A codec that can send as well: wrap() makes a frame of a message, or returns why it must not be one: of no use
/// then.
template <class C>
concept wrapping_codec = requires(const C& c, envelope& e) {
  { c.wrap(e) } -> std::same_as<error_code>;
};

}  // namespace quintet
