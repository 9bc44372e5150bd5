// SPDX-License-Identifier: BSL-1.0
// sql: splits a text into tokens, and compares them with a list of patterns.
#include "sql.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace postgres {
namespace {

// `#i`, `#f`, `#t`: an operand of type bigint, float8, text; `##`: operands of any type, separated by commas. `@`: any
// word or value; `@c`: a column's name or `*`; `..`: everything up to the end. `?x`: x may be missing.
struct pattern {
  bytes text;
  action does;
  bytes tag;
  bytes columns = {};
};
constexpr auto patterns = std::to_array<pattern>({
    {"select ##", action::select_values, "SELECT "},
    {"select pg_sleep ( #f )", action::sleep, "SELECT ", "pg_sleep"},
    {"select @c from generate_series ( #i , #i ) ?as ?@", action::series, "SELECT ", "generate_series"},
    {"select sum ( @c ) from generate_series ( #i , #i ) ?as ?@", action::sum, "SELECT ", "sum"},
    {"select * from kv", action::select_all, "SELECT ", "kv"},
    {"select * from kv where k = #i", action::select_row, "SELECT ", "kv"},
    {"select k , v from kv where k = #i", action::select_row, "SELECT ", "kv"},
    {"select v from kv where k = #i", action::select_row, "SELECT ", "v"},
    {"insert into kv values ( #i , #t )", action::insert, "INSERT 0 "},
    {"insert into kv ( k , v ) values ( #i , #t )", action::insert, "INSERT 0 "},
    {"update kv set v = #t where k = #i", action::update, "UPDATE "},
    {"begin ..", action::begin, "BEGIN"},
    {"start transaction ..", action::begin, "START TRANSACTION"},
    {"commit ?transaction", action::commit, "COMMIT"},
    {"end ?transaction", action::commit, "COMMIT"},
    {"rollback ?transaction", action::rollback, "ROLLBACK"},
    {"abort ?transaction", action::rollback, "ROLLBACK"},
    {"set session characteristics ..", action::ignored, "SET"},
    {"set ?session ?local @ = @ ..", action::set, "SET"},
    {"set ?session ?local @ to @ ..", action::set, "SET"},
    {"show @", action::show, "SHOW", "@"},
    {"show transaction isolation level", action::show, "SHOW", "transaction_isolation"},
    {"deallocate @", action::deallocate, "DEALLOCATE"},
    {"deallocate prepare @", action::deallocate, "DEALLOCATE"},
    {"discard all", action::ignored, "DISCARD ALL"},
    // asyncpg sends these when a connection returns to its pool.
    {"select pg_advisory_unlock_all ( )", action::ignored, "SELECT "},
    {"close all", action::ignored, "CLOSE CURSOR ALL"},
    {"unlisten *", action::ignored, "UNLISTEN"},
    {"reset all", action::ignored, "RESET"},
});
constexpr std::size_t most_operands = 1000;

// ---- Tokens ---------------------------------------------------------------------------------------------------------

enum class kind { end, word, number, text, parameter, sign };

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

struct token {
  kind is = kind::end;
  bytes raw = {};  // without quotes, and without the $ of a parameter
  char quote = '\0';

  // `s` is in lower case.
  bool operator==(bytes s) const {
    if (is != kind::word && is != kind::sign) return false;
    if (quote != '\0') return raw == s;
    return std::equal(raw.begin(), raw.end(), s.begin(), s.end(), [](char a, char b) { return lower(a) == b; });
  }
  // A word is in lower case unless it is quoted. A quote within quotes is written twice.
  [[nodiscard]] std::string text() const {
    if (quote == '\0') return to_lower(std::string(raw));
    std::string all;
    for (std::size_t at = 0; at < raw.size(); at += raw[at] == quote ? 2 : 1) all += raw[at];
    return all;
  }
};

constexpr auto is_digit = [](char c) noexcept { return c >= '0' && c <= '9'; };
constexpr auto is_blank = [](char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); };
constexpr auto is_of_word = [](char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<signed char>(c) < 0 || is_digit(c);
};

bytes take(bytes& from, std::size_t size) {
  const bytes taken = from.substr(0, size);
  from.remove_prefix(taken.size());
  return taken;
}
template <class Predicate>
bytes take_while(bytes& from, Predicate p) {
  return take(from, static_cast<std::size_t>(std::find_if_not(from.begin(), from.end(), p) - from.begin()));
}

// Two quotes in a row stand for one within the text.
token take_quoted(kind is, bytes& rest) {
  const char quote = rest.front();
  for (std::size_t end = 1;; end += 2) {
    end = rest.find(quote, end);
    if (end == rest.npos) throw sql_error("42601", "unterminated quoted string");
    if (end + 1 < rest.size() && rest[end + 1] == quote) continue;
    return {is, take(rest, end + 1).substr(1, end - 1), quote};
  }
}

token take_number(bytes& rest) {
  const bytes digits = take_while(rest, [](char c) { return is_digit(c) || c == '.'; });
  if (!rest.empty() && is_of_word(rest.front()))
    throw sql_error("42601", "trailing junk after numeric literal \"" + std::string(digits) + '"');
  return {kind::number, digits};
}

token take_token(bytes& rest) {
  (void)take_while(rest, is_blank);
  if (rest.empty()) return {};
  const char first = rest.front();
  if (is_digit(first) || (first == '.' && rest.size() > 1 && is_digit(rest[1]))) return take_number(rest);
  if (is_of_word(first)) return {kind::word, take_while(rest, is_of_word)};
  if (first == '\'') return take_quoted(kind::text, rest);
  if (first == '"') return take_quoted(kind::word, rest);
  const bytes sign = take(rest, rest.starts_with("::") ? 2 : 1);
  if (first == '$') return {kind::parameter, take_while(rest, is_digit)};
  return {kind::sign, sign};
}

// The last token is kind::end.
std::vector<token> tokenize(bytes text) {
  std::vector<token> all;
  all.reserve(16);
  do all.push_back(take_token(text));
  while (all.back().is != kind::end);
  return all;
}

// ---- Patterns -------------------------------------------------------------------------------------------------------

type type_named(bytes name) {
  if (name == "int" || name == "integer" || name == "int4") return type::int4;
  if (name == "bigint" || name == "int8") return type::int8;
  if (name == "float8") return type::float8;
  if (name == "text" || name == "varchar") return type::text;
  throw sql_error("42704", "type \"" + std::string(name) + "\" does not exist");
}

type type_of_number(const std::string& digits) {
  if (digits.find('.') != digits.npos) return type::float8;
  const std::int64_t n = to_integer(digits);
  return n == static_cast<std::int32_t>(n) ? type::int4 : type::int8;
}

class parser {
 public:
  parser(bytes text, const std::vector<type>& given) : tokens_(tokenize(text)), given_(given) {}

  std::vector<statement> parse() {
    for (std::vector<statement> all;; all.push_back(parse_statement())) {
      while (skip(";")) continue;
      if (tokens_[at_].is == kind::end) return all;
    }
  }

 private:
  statement parse_statement();
  bool matches(bytes pattern);
  bool matches_element(bytes element);
  bool take_name();
  bool take_operand(type expected);
  bool take_operands();
  void settle(operand& o);
  void set_columns(bytes columns);

  [[nodiscard]] bool at_end() const { return tokens_[at_].is == kind::end || tokens_[at_] == ";"; }
  bool skip(bytes word) {
    if (tokens_[at_] != word) return false;
    ++at_;
    return true;
  }

  const std::vector<token> tokens_;
  const std::vector<type>& given_;
  std::size_t at_ = 0;
  statement s_;  // the one being parsed
};

statement parser::parse_statement() {
  const std::size_t begin = at_;
  std::size_t furthest = at_;
  for (const pattern& p : patterns) {
    at_ = begin;
    s_ = {.does = p.does, .tag = p.tag};
    if (matches(p.text) && at_end()) {
      for (operand& o : s_.operands) settle(o);
      set_columns(p.columns);
      return std::move(s_);
    }
    furthest = std::max(furthest, at_);
  }
  const token& unexpected = tokens_[furthest];
  if (unexpected.is == kind::end) throw sql_error("42601", "syntax error at end of input");
  throw sql_error("42601", "syntax error at or near \"" + unexpected.text() + '"');
}

bool parser::matches(bytes pattern) {
  while (!pattern.empty()) {
    const std::size_t size = std::min(pattern.find(' '), pattern.size());
    if (!matches_element(pattern.substr(0, size))) return false;
    pattern.remove_prefix(std::min(size + 1, pattern.size()));
  }
  return true;
}

bool parser::matches_element(bytes element) {
  if (element == "@") return take_name();
  if (element == "@c") return (tokens_[at_].is == kind::word || tokens_[at_] == "*") && take_name();
  if (element == "?@") return take_name(), true;
  if (element.front() == '?') return skip(element.substr(1)), true;
  if (element == "#i") return take_operand(type::int8);
  if (element == "#f") return take_operand(type::float8);
  if (element == "#t") return take_operand(type::text);
  if (element == "##") return take_operands();
  if (element != "..") return skip(element);
  while (!at_end()) ++at_;
  return true;
}

bool parser::take_name() {
  if (at_end()) return false;
  s_.names.push_back(tokens_[at_++].text());
  return true;
}

bool parser::take_operands() {
  do {
    if (s_.operands.size() == most_operands) throw sql_error("54011", "too many columns");
    if (!take_operand(type::unknown)) return false;
    const bool is_named = skip("as") || tokens_[at_].is == kind::word;
    if (!is_named) s_.names.emplace_back("?column?");
    if (is_named && !take_name()) return false;
  } while (skip(","));
  return true;
}

bool parser::take_operand(type expected) {
  operand& o = s_.operands.emplace_back();
  const bool is_negative = skip("-");
  const token& t = tokens_[at_];
  if (is_negative && t.is != kind::number) return false;
  if (t.is == kind::number) {
    o.literal = (is_negative ? "-" : "") + t.text();
    o.as = type_of_number(*o.literal);
  } else if (t.is == kind::parameter) {
    o.parameter = t.raw.size() < 5 && !t.raw.empty() ? std::stoul(t.text()) : 0;
    if (o.parameter == 0 || o.parameter > most_operands) throw sql_error("42P02", "there is no parameter $" + t.text());
  } else if (t.is == kind::text) {
    o.literal = t.text();
    o.as = type::text;
  } else if (!(t == "null")) {
    return false;
  }
  ++at_;
  if (expected != type::unknown) o.as = expected;
  if (skip("::")) o.as = type_named(tokens_[at_++].text());
  return true;
}

// Gives the operand its type. A parameter has the type that the client has declared, else that of its first use, else
// text.
void parser::settle(operand& o) {
  if (o.parameter > 0) {
    if (s_.parameters.size() < o.parameter) s_.parameters.resize(o.parameter, type::unknown);
    type& own = s_.parameters[o.parameter - 1];
    if (own == type::unknown && o.parameter <= given_.size()) own = given_[o.parameter - 1];
    if (own == type::unknown) own = o.as == type::unknown ? type::text : o.as;
    if (o.as == type::unknown) o.as = own;
  }
  if (o.as == type::unknown) o.as = type::text;
  o.literal = convert(o.literal, o.as);
}

void parser::set_columns(bytes columns) {
  const std::string name(columns);
  if (s_.does == action::select_values)
    for (std::size_t i = 0; i < s_.operands.size(); ++i) s_.columns.push_back({s_.names[i], s_.operands[i].as});
  else if (s_.does == action::show)
    s_.columns = {{name == "@" ? s_.names.front() : name, type::text}};
  else if (s_.does == action::sleep)
    s_.columns = {{name, type::no_value}};
  else if (s_.does == action::series && s_.names.back() != "*")
    s_.columns = {{s_.names.back(), type::int8}};
  else if (s_.does == action::series || s_.does == action::sum)
    s_.columns = {{name, type::int8}};
  else if (name == "kv")
    s_.columns = {{"k", type::int8}, {"v", type::text}};
  else if (name == "v")
    s_.columns = {{"v", type::text}};
}

}  // namespace

std::vector<statement> parse_sql(bytes text, const std::vector<type>& given) { return parser(text, given).parse(); }

std::string to_lower(std::string s) {
  std::transform(s.begin(), s.end(), s.begin(), lower);
  return s;
}

}  // namespace postgres
