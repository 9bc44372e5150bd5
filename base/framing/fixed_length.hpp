// SPDX-License-Identifier: BSL-1.0
// fixed_length: messages that all have the same length.
#pragma once

#include "frame.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace quintet {

/// `fixed_length<16>()`, or `fixed_length(n)` with n at run time. wrap() rejects other lengths: longer messages with
/// errc::message_too_big, shorter ones with errc::malformed_message.
template <std::size_t Length = std::dynamic_extent>
class fixed_length {
  static_assert(Length > 0, "a message of no bytes would be there for ever");

 public:
  constexpr fixed_length() noexcept
    requires(Length != std::dynamic_extent)
  = default;
  /// Throws config_error.
  explicit constexpr fixed_length(std::size_t length)
    requires(Length == std::dynamic_extent)
      : length_(length) {
    if (length == 0) throw config_error("fixed_length: the message length is 0; it must be at least 1 byte");
    if (length > largest_max_message)
      throw config_error("fixed_length: the message length is too large; it must be at most " +
                         std::to_string(largest_max_message) + " bytes");
  }

  /// Returns the length of each message.
  [[nodiscard]] constexpr std::size_t length() const noexcept { return length_; }
  [[nodiscard]] constexpr fixed_length<> widened(std::size_t by) const { return fixed_length<>(length_ + by); }

  [[nodiscard]] frame parse(bytes in) const noexcept {
    if (in.size() < length_) return frame::incomplete(length_);
    return frame::complete(in.substr(0, length_), length_);
  }
  template <class Message>
  [[nodiscard]] error_code wrap(const Message& m) const noexcept {
    if (m.size() == length_) return {};
    return m.size() > length_ ? errc::message_too_big : errc::malformed_message;
  }

 private:
  std::size_t length_ = Length;
};
/// `fixed_length(n)`.
fixed_length(std::size_t) -> fixed_length<>;

}  // namespace quintet
