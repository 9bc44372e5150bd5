// SPDX-License-Identifier: BSL-1.0
// tokens: takes one token after the other from the front of the text.
#include "tokens.hpp"

#include "error.hpp"

#include <algorithm>
#include <utility>

namespace postgres {
namespace {

using quintet::bytes;

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (static_cast<unsigned char>(c) & 0x80U) != 0;
}

template <class Predicate>
std::string take_while(bytes& from, Predicate p) {
  std::string taken(from.begin(), std::find_if_not(from.begin(), from.end(), p));
  from.remove_prefix(taken.size());
  return taken;
}

void skip_blanks(bytes& rest) {
  while (!rest.empty()) {
    std::size_t size = 0;
    if (rest.front() == ' ' || (rest.front() >= '\t' && rest.front() <= '\r')) size = 1;
    if (rest.starts_with("--")) size = std::min(rest.find('\n'), rest.size());
    if (rest.starts_with("/*")) size = std::min(rest.find("*/", 2), rest.size() - 2) + 2;
    if (size == 0) return;
    rest.remove_prefix(size);
  }
}

// A quote within the text is written twice.
std::string take_quoted(bytes& rest) {
  const char quote = rest.front();
  for (std::string text;; text += quote) {
    rest.remove_prefix(1);
    text += take_while(rest, [quote](char c) { return c != quote; });
    if (rest.empty()) throw sql_error("42601", "unterminated quoted string");
    rest.remove_prefix(1);
    if (!rest.starts_with(quote)) return text;
  }
}

token take_token(bytes& rest) {
  using kind = token::kind;
  skip_blanks(rest);
  if (rest.empty()) return {};
  const char first = rest.front();
  if (is_digit(first)) return {kind::number, take_while(rest, [](char c) { return is_digit(c) || c == '.'; })};
  if (first == '\'') return {kind::text, take_quoted(rest)};
  if (first == '"') return {kind::word, take_quoted(rest)};
  if (is_letter(first)) {
    return {kind::word, to_lower(take_while(rest, [](char c) { return is_letter(c) || is_digit(c) || c == '$'; }))};
  }
  const std::size_t size = rest.starts_with("::") ? 2 : 1;
  std::string sign(rest.substr(0, size));
  rest.remove_prefix(size);
  if (first == '$') return {kind::parameter, take_while(rest, is_digit)};
  return {kind::sign, std::move(sign)};
}

}  // namespace

std::string to_lower(std::string s) {
  for (char& c : s)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return s;
}

std::vector<token> tokenize(bytes text) {
  std::vector<token> all;
  do all.push_back(take_token(text));
  while (all.back().is != token::kind::end);
  return all;
}

}  // namespace postgres
