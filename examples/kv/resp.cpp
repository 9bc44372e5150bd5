// SPDX-License-Identifier: BSL-1.0
// resp: the parser. Its error texts are those of Redis 7, so that clients and their tests know them.
#include "resp.hpp"

#include <algorithm>
#include <charconv>

namespace kv {
namespace {

constexpr bytes line_end = "\r\n";

bool is_blank(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_quote(char c) noexcept { return c == '"' || c == '\''; }

char take(bytes& line) noexcept {
  const char first = line.front();
  line.remove_prefix(1);
  return first;
}

/// Returns the character that a backslash within double quotes stands for, and takes its text from the line.
char take_escaped(bytes& line) noexcept {
  unsigned char value = 0;
  if (line.size() > 2 && line.front() == 'x' &&
      std::from_chars(line.data() + 1, line.data() + 3, value, 16).ptr == line.data() + 3)
    return line.remove_prefix(3), static_cast<char>(value);
  constexpr bytes letters = "nrtba", meanings = "\n\r\t\b\a";
  const char letter = take(line);
  const std::size_t known = letters.find(letter);
  return known == letters.npos ? letter : meanings[known];
}

/// Reads a number and its line's end in the form that all programs write: up to 18 digits without a leading zero, CR,
/// LF. Returns the position behind them; nullptr for any other form, and for an incomplete one.
const char* take_number(const char* at, const char* end, std::int64_t& into) noexcept {
  const char* const limit = at + std::min<std::ptrdiff_t>(end - at, 18);
  const char* digit = at;
  std::int64_t value = 0;
  for (; digit != limit && *digit >= '0' && *digit <= '9'; ++digit) value = 10 * value + (*digit - '0');
  if (digit == at || end - digit < 2 || digit[0] != '\r' || digit[1] != '\n') return nullptr;
  if (*at == '0' && digit - at > 1) return nullptr;
  into = value;
  return digit + line_end.size();
}

constexpr std::int64_t no_number = INT64_MAX;  // above each limit

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
  std::int64_t count = 0;
  const outcome header = parse_length('*', count);
  if (header != outcome::request) return header;
  if (count > static_cast<std::int64_t>(limits_.arguments)) return fail("invalid multibulk length");
  for (std::int64_t i = 0; i < count; ++i) {
    const outcome bulk = parse_bulk();
    if (bulk != outcome::request) return bulk;
  }
  return outcome::request;
}

inline outcome request_parser::parse_bulk() {
  if (position_ == in_.size()) return outcome::incomplete;
  if (in_[position_] != '$') return fail_at(in_[position_]);
  std::int64_t length = 0;
  const outcome header = parse_length('$', length);
  if (header != outcome::request) return header;
  if (length < 0 || length > static_cast<std::int64_t>(limits_.bulk)) return fail("invalid bulk length");

  const auto size = static_cast<std::size_t>(length);
  announced_ += size;
  if (announced_ > limits_.request) return fail("too big request");
  if (in_.size() - position_ < size + line_end.size()) return outcome::incomplete;
  const char* const text = in_.data() + position_;
  if (text[size] != '\r' || text[size + 1] != '\n') return fail_behind(size);
  arguments_.emplace_back(text, size);
  position_ += size + line_end.size();
  return outcome::request;
}

// Reads a line of a prefix (checked by the caller) and a number, or no_number.
inline outcome request_parser::parse_length(char prefix, std::int64_t& into) {
  const char* const behind = take_number(in_.data() + position_ + 1, in_.data() + in_.size(), into);
  if (!behind) return parse_other_length(prefix, into);
  position_ = static_cast<std::size_t>(behind - in_.data());
  return outcome::request;
}

outcome request_parser::parse_other_length(char prefix, std::int64_t& into) {
  const bytes line = in_.substr(position_, limits::line);
  const std::size_t end = line.find('\r');
  if (end == line.npos) {
    if (line.size() < limits::line) return outcome::incomplete;
    return fail(prefix == '*' ? "too big mbulk count string" : "too big bulk count string");
  }
  if (position_ + end + 1 == in_.size()) return outcome::incomplete;
  const bool is_line = in_[position_ + end + 1] == '\n';
  into = is_line ? to_integer(line.substr(1, end - 1)).value_or(no_number) : no_number;
  position_ += end + line_end.size();
  return outcome::request;
}

outcome request_parser::fail_at(char got) {
  return fail(std::string("expected '$', got '") + (is_blank(got) ? ' ' : got) + "'");
}

outcome request_parser::fail_behind(std::size_t size) {
  return fail("expected CRLF after a bulk string of " + std::to_string(size) + " bytes");
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

// Splits words at blanks outside of quotes. Quotes may begin within a word.
bool request_parser::split_words(bytes line) {
  unquoted_.clear();
  for (;;) {
    while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
    if (line.empty()) return true;
    const auto end = std::ranges::find_if(line, [](char c) { return is_blank(c) || is_quote(c); });
    const auto size = static_cast<std::size_t>(end - line.begin());
    if (end != line.end() && is_quote(*end)) {
      if (!unquote_word(line)) return false;
    } else {
      arguments_.push_back(line.substr(0, size));
      line.remove_prefix(size);
    }
  }
}

// Takes one word from the line. Its text is never longer than its quoted form, so that earlier views remain valid.
bool request_parser::unquote_word(bytes& line) {
  if (unquoted_.empty()) unquoted_.reserve(line.size());
  const std::size_t begin = unquoted_.size();
  while (!line.empty() && !is_blank(line.front())) {
    if (!is_quote(line.front()))
      unquoted_ += take(line);
    else if (!unquote(line))
      return false;
  }
  arguments_.push_back(bytes(unquoted_).substr(begin));
  return true;
}

// Takes a text in quotes, which must end the word. Returns false for unbalanced quotes.
bool request_parser::unquote(bytes& line) {
  const char quote = take(line);
  while (!line.empty() && line.front() != quote) {
    char c = take(line);
    if (c == '\\' && quote == '"' && !line.empty())
      c = take_escaped(line);
    else if (c == '\\' && line.starts_with('\''))
      c = take(line);
    unquoted_ += c;
  }
  if (line.empty()) return false;
  line.remove_prefix(1);
  return line.empty() || is_blank(line.front());
}

// Every request of HTTP/1.1 has a Host field, and POST is the method that a form of any web page can send.
bool speaks_http(std::span<const bytes> r) noexcept {
  return equal_ignoring_case(r[0], "post") || equal_ignoring_case(r[0], "host:") ||
         (r.size() > 2 && r.back().starts_with("HTTP/"));
}

}  // namespace kv
