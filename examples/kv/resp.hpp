// SPDX-License-Identifier: BSL-1.0
// resp: finds requests of the Redis protocol in a buffer: arrays of bulk strings, and inline commands.
#pragma once

#include <quintet/base/bytes.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kv {

using quintet::bytes;

/// Limits of a request's memory. Too large sizes are refused when they are announced, before their bytes arrive.
struct limits {
  std::size_t arguments = 1024;               ///< of one request
  std::size_t bulk = 1024 * 1024;             ///< bytes of one argument
  std::size_t request = 2 * 1024 * 1024;      ///< bytes of all arguments of one request
  static constexpr std::size_t line = 65536;  ///< bytes of an inline command, or of the line that announces a size
};

enum class outcome {
  request,     ///< one whole request; ignore it if it has no arguments
  incomplete,  ///< a partial request: offer it again, followed by more
  malformed,   ///< error() says why; close the connection, as the start of the next request is unknown
};

/// Keeps no state between calls: the result does not depend on how the bytes were split on arrival. Allocates only if
/// the list of arguments, or an error text, is longer than all earlier ones.
class request_parser {
 public:
  request_parser() = default;
  explicit request_parser(const limits& l) : limits_(l) {}

  /// Parses the first request in `in`.
  outcome parse(bytes in);

  // After outcome::request. The arguments are views of `in`, and of the parser for words with quotes.
  [[nodiscard]] std::span<const bytes> arguments() const noexcept { return arguments_; }
  [[nodiscard]] std::size_t used() const noexcept { return position_; }
  // After outcome::malformed: Redis's text, without "-ERR ".
  [[nodiscard]] const std::string& error() const noexcept { return error_; }

 private:
  outcome parse_array();
  outcome parse_inline();
  outcome parse_bulk();
  outcome parse_length(char prefix, std::int64_t& into);
  outcome parse_other_length(char prefix, std::int64_t& into);
  bool split_words(bytes line);
  bool unquote_word(bytes& line);
  bool unquote(bytes& line);
  outcome fail(std::string_view why);
  outcome fail_at(char got);
  outcome fail_behind(std::size_t size);

  limits limits_;
  bytes in_;
  std::size_t position_ = 0;
  std::size_t announced_ = 0;  // bytes of the arguments so far
  std::vector<bytes> arguments_;
  std::string unquoted_;  // the words with quotes of an inline command, without the quotes
  std::string error_;
};

/// Returns a whole number in Redis's form: no plus sign, no leading zeros, no blanks. Returns nothing otherwise.
[[nodiscard]] std::optional<std::int64_t> to_integer(bytes text) noexcept;

/// Returns whether a request that is no command is part of an HTTP request: its request line, or its Host field.
[[nodiscard]] bool speaks_http(std::span<const bytes> arguments) noexcept;

/// Returns whether two texts are equal but for the case of letters. `lower` must be in lower case.
[[nodiscard]] inline bool equal_ignoring_case(bytes a, bytes lower) noexcept {
  const auto same = [](char x, char y) { return (x >= 'A' && x <= 'Z' ? static_cast<char>(x + 32) : x) == y; };
  return a.size() == lower.size() && std::equal(a.begin(), a.end(), lower.begin(), same);
}

}  // namespace kv
