// SPDX-License-Identifier: BSL-1.0
// resp: finds requests of the Redis protocol in a buffer: arrays of bulk strings, and inline commands.
#pragma once

#include <quintet/base/bytes.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kv {

using quintet::bytes;

/// What a client may ask of the server's memory. Sizes are refused when they are announced, before their bytes arrive.
struct limits {
  std::size_t arguments = 1024;               ///< of one request
  std::size_t bulk = 1024 * 1024;             ///< bytes of one argument
  std::size_t request = 2 * 1024 * 1024;      ///< bytes of all arguments of one request
  static constexpr std::size_t line = 65536;  ///< bytes of an inline command, or of the line that announces a size
};

enum class outcome {
  request,     ///< one whole request; it may be without arguments, and is then to be ignored
  incomplete,  ///< the beginning of one: offer it again with more behind it
  malformed,   ///< error() says why; the connection cannot go on, since nobody knows where the next request begins
};

/// Has no memory of earlier calls: the same bytes give the same answer however they were split when they arrived.
/// Allocates only while the list of arguments, or the text of an error, is longer than any before it.
class request_parser {
 public:
  request_parser() = default;
  explicit request_parser(const limits& l) : limits_(l) {}

  /// Looks at the first request in `in`.
  outcome parse(bytes in);

  // After outcome::request. The arguments are views of `in`.
  [[nodiscard]] std::span<const bytes> arguments() const noexcept { return arguments_; }
  [[nodiscard]] std::size_t used() const noexcept { return position_; }
  // After outcome::malformed: as Redis says it, without "-ERR ".
  [[nodiscard]] const std::string& error() const noexcept { return error_; }

 private:
  outcome parse_array();
  outcome parse_inline();
  outcome parse_bulk();
  outcome parse_length(char prefix, std::optional<std::int64_t>& into);
  bool split_words(bytes line);
  outcome fail(std::string_view why);

  limits limits_;
  bytes in_;
  std::size_t position_ = 0;
  std::size_t announced_ = 0;  // bytes of the arguments so far
  std::vector<bytes> arguments_;
  std::string error_;
};

/// A whole number written as Redis writes it: no plus sign, no leading zeros, no blanks.
[[nodiscard]] std::optional<std::int64_t> to_integer(bytes text) noexcept;

}  // namespace kv
