// SPDX-License-Identifier: BSL-1.0
// resp: the parser. Its error texts are those of Redis 7, so that clients and their tests know them.
#include "resp.hpp"

#include <charconv>

namespace kv {
namespace {

constexpr bytes line_end = "\r\n";

bool is_blank(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace

std::optional<std::int64_t> to_integer(bytes text) noexcept {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  const bytes digits = text.substr(text.front() == '-' ? 1 : 0);
  if (digits.front() == '0' && text.size() > 1) return std::nullopt;  // 007, -0
  return value;
}

outcome request_parser::fail(std::string_view why) {
  error_ = "Protocol error: ";
  error_ += why;
  return outcome::malformed;
}

outcome request_parser::parse(bytes in) {
  in_ = in;
  position_ = announced_ = 0;
  arguments_.clear();
  if (in.empty()) return outcome::incomplete;
  return in.front() == '*' ? parse_array() : parse_inline();
}

outcome request_parser::parse_array() {
  std::optional<std::int64_t> count;
  const outcome header = parse_length('*', count);
  if (header != outcome::request) return header;
  if (!count || *count > static_cast<std::int64_t>(limits_.arguments)) return fail("invalid multibulk length");
  for (std::int64_t i = 0; i < *count; ++i) {
    const outcome bulk = parse_bulk();
    if (bulk != outcome::request) return bulk;
  }
  return outcome::request;
}

outcome request_parser::parse_bulk() {
  if (position_ == in_.size()) return outcome::incomplete;
  if (const char got = in_[position_]; got != '$')
    return fail(std::string("expected '$', got '") + (is_blank(got) ? ' ' : got) + "'");
  std::optional<std::int64_t> length;
  const outcome header = parse_length('$', length);
  if (header != outcome::request) return header;
  if (!length || *length < 0 || *length > static_cast<std::int64_t>(limits_.bulk)) return fail("invalid bulk length");

  const auto size = static_cast<std::size_t>(*length);
  announced_ += size;
  if (announced_ > limits_.request) return fail("too big request");
  if (in_.size() - position_ < size + line_end.size()) return outcome::incomplete;
  if (in_.substr(position_ + size, line_end.size()) != line_end) return fail("bulk string is longer than announced");
  arguments_.push_back(in_.substr(position_, size));
  position_ += size + line_end.size();
  return outcome::request;
}

// Reads a line of a prefix (checked by the caller) and a number. Leaves `into` empty if it is no number.
outcome request_parser::parse_length(char prefix, std::optional<std::int64_t>& into) {
  const bytes line = in_.substr(position_, limits::line);
  const std::size_t end = line.find('\r');
  if (end == line.npos) {
    if (line.size() < limits::line) return outcome::incomplete;
    return fail(prefix == '*' ? "too big mbulk count string" : "too big bulk count string");
  }
  if (position_ + end + 1 == in_.size()) return outcome::incomplete;
  if (in_[position_ + end + 1] == '\n') into = to_integer(line.substr(1, end - 1));
  position_ += end + line_end.size();
  return outcome::request;
}

outcome request_parser::parse_inline() {
  const bytes line = in_.substr(0, limits::line);
  const std::size_t end = line.find('\n');
  if (end == line.npos) return line.size() < limits::line ? outcome::incomplete : fail("too big inline request");
  position_ = end + 1;
  if (!split_words(line.substr(0, end))) return fail("unbalanced quotes in request");
  if (arguments_.size() > limits_.arguments) return fail("too many arguments in inline request");
  return outcome::request;
}

// Splits words at blanks outside of 'single' and "double" quotes. Returns false for unbalanced quotes. Unlike Redis
// this knows no escapes, because arguments are views of the input.
bool request_parser::split_words(bytes line) {
  for (;;) {
    while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
    if (line.empty()) return true;
    std::size_t end = 0;
    if (const char quote = line.front(); quote == '"' || quote == '\'') {
      line.remove_prefix(1);
      end = line.find(quote);
      if (end == line.npos) return false;
      arguments_.push_back(line.substr(0, end));
      line.remove_prefix(end + 1);
      if (!line.empty() && !is_blank(line.front())) return false;
    } else {
      while (end < line.size() && !is_blank(line[end])) ++end;
      arguments_.push_back(line.substr(0, end));
      line.remove_prefix(end);
    }
  }
}

}  // namespace kv
