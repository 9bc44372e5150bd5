// SPDX-License-Identifier: BSL-1.0
// envelope: a message in place, with the headers and the trailer that codecs add.
#pragma once

#include "../bytes.hpp"
#include "../error.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <span>
#include <stdexcept>

namespace quintet {

/// For sending without a copy: connection::write() takes its pieces. A message_buffer has the same functions for a
/// contiguous message; codecs wrap either.
class envelope {
 public:
  static constexpr std::size_t header_room = 48;  ///< bytes; several nested headers

  /// The caller owns `payload` and must keep it while this object is used.
  explicit envelope(bytes payload) noexcept : payload_(payload) {}

  /// Returns the size of all pieces.
  [[nodiscard]] std::size_t size() const noexcept { return header().size() + payload_.size() + trailer_.size(); }
  [[nodiscard]] bytes header() const noexcept { return {header_.data() + begin_, header_room - begin_}; }
  [[nodiscard]] bytes payload() const noexcept { return payload_; }
  /// Copies bytes before all others. Throws std::length_error beyond `header_room`.
  void prepend(bytes more) {
    if (more.size() > begin_) throw std::length_error("envelope: the headers do not fit into header_room");
    begin_ -= more.size();
    std::memcpy(header_.data() + begin_, more.data(), more.size());
  }
  /// Moves the first bytes of header and payload to `to`. Returns false, without effect, if they are fewer.
  [[nodiscard]] bool take_front(std::span<char> to) noexcept {
    const std::size_t own = std::min(to.size(), header().size()), others = to.size() - own;
    if (payload_.size() < others) return false;
    std::copy_n(payload_.begin(), others, std::copy_n(header().begin(), own, to.begin()));
    begin_ += own;
    payload_.remove_prefix(others);
    return true;
  }
  /// Adds bytes at the end without copying: the caller must keep them. A second call throws std::length_error.
  void append(bytes more) {
    if (!trailer_.empty()) throw std::length_error("envelope: it already has a trailer; only one is allowed");
    trailer_ = more;
  }
  /// Returns header, payload and trailer; some may be empty. Valid as long as this object.
  [[nodiscard]] std::array<bytes, 3> pieces() const noexcept { return {header(), payload_, trailer_}; }

 private:
  bytes payload_, trailer_;
  std::size_t begin_ = header_room;
  std::array<char, header_room> header_;  // filled from its end
};

/// A codec that can send: wrap() makes a frame of a message, or returns why it cannot. After an error the message
/// object is unusable.
template <class C>
concept wrapping_codec = requires(const C& c, envelope& e) {
  { c.wrap(e) } -> std::same_as<error_code>;
};

}  // namespace quintet
