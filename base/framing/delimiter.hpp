// SPDX-License-Identifier: BSL-1.0
// delimiter: messages that end with a text, such as lines.
#pragma once

#include "frame.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

namespace quintet {

/// Searches growing input for a text. Examines each byte once, except those at the end that may begin the text.
class delimiter_search {
 public:
  delimiter_search() noexcept = default;
  /// A copy is for another stream and starts afresh.
  delimiter_search(const delimiter_search&) noexcept {}
  delimiter_search& operator=(const delimiter_search&) noexcept {
    seen_ = 0;
    return *this;
  }
  ~delimiter_search() = default;

  /// Returns where the text begins, or bytes::npos. After npos, the next input must be the same with more behind it.
  std::size_t find(bytes in, bytes text) noexcept {
    if (seen_ > in.size()) seen_ = 0;
    const std::size_t at = in.find(text, seen_);
    if (at != bytes::npos)
      seen_ = 0;
    else if (in.size() >= text.size())
      seen_ = in.size() - text.size() + 1;  // the text may begin at the end of the input
    return at;
  }
  /// Returns where the next search begins.
  [[nodiscard]] std::size_t seen() const noexcept { return seen_; }

  /// Returns the frame of the message before the text. A message longer than `max` is errc::message_too_big.
  frame parse(bytes in, bytes text, std::size_t max) noexcept {
    const bytes window = in.substr(0, std::min(max, largest_max_message) + text.size());
    const std::size_t at = find(window, text);
    if (at != bytes::npos) return frame::complete(in.substr(0, at), at + text.size());
    if (window.size() < std::min(max, largest_max_message) + text.size()) return frame::incomplete(in.size() + 1);
    seen_ = 0;
    return frame::failed(errc::message_too_big);
  }

 private:
  std::size_t seen_ = 0;
};

/// `delimiter("\n")`, `delimiter("\r\n", 4096)`: neither the message nor `max_size` includes the delimiter.
class delimiter {
 public:
  /// Throws config_error for an empty text.
  explicit delimiter(std::string text, std::size_t max_size = default_max_message)
      : text_(std::move(text)), max_(max_size) {
    if (text_.empty()) throw config_error("delimiter is empty; it must have at least 1 byte");
  }

  /// Return the delimiter, and the largest message.
  [[nodiscard]] bytes text() const noexcept { return text_; }
  [[nodiscard]] std::size_t max_size() const noexcept { return max_; }

  [[nodiscard]] frame parse(bytes in) noexcept { return search_.parse(in, text_, max_); }
  /// errc::malformed_message: the receiver would find a delimiter too early.
  template <class Message>
  [[nodiscard]] error_code wrap(Message& m) const {
    if (m.size() > max_) return errc::message_too_big;
    if (would_end_early(m.payload())) return errc::malformed_message;
    m.append(text_);
    return {};
  }

 private:
  [[nodiscard]] bool would_end_early(bytes message) const noexcept {
    if (message.find(text_) != bytes::npos) return true;
    const bytes text = text_;  // it may overlap itself: "a" and then "aa" ends after nothing
    for (std::size_t n = 1; n < text.size(); ++n)
      if (text.substr(n) == text.substr(0, text.size() - n) && message.ends_with(text.substr(0, n))) return true;
    return false;
  }

  std::string text_;
  std::size_t max_;
  delimiter_search search_;
};

}  // namespace quintet
