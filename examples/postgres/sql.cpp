// SPDX-License-Identifier: BSL-1.0
// sql: statements are patterns of words, signs and operands.
#include "sql.hpp"

#include "error.hpp"
#include "tokens.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace postgres {
namespace {

using quintet::bytes;

constexpr std::size_t most_operands = 1000;

// `#`: any operand; `#i`, `#f`, `#t`: one that is a bigint, a float8, a text; `##`: operands between commas. `@`: any
// word or value; `..`: all that follows. `?x`: x or nothing.
struct pattern {
  bytes text;
  action does;
  bytes tag;
  bytes columns = {};  // k and v, or e for each operand
};
constexpr auto patterns = std::to_array<pattern>({
    {"select ##", action::select_values, "SELECT ", "e"},
    {"select version ( )", action::show, "SELECT ", "version"},
    {"select pg_advisory_unlock_all ( )", action::show, "SELECT ", "pg_advisory_unlock_all"},
    {"select pg_sleep ( #f )", action::sleep, "SELECT ", "pg_sleep"},
    {"select @ from generate_series ( #i , #i ) ?as ?@", action::series, "SELECT ", "generate_series"},
    {"select sum ( @ ) from generate_series ( #i , #i ) ?as ?@", action::sum, "SELECT ", "sum"},
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
    {"set ?session time zone ..", action::ignored, "SET"},
    {"show @", action::show, "SHOW", "@"},
    {"show transaction isolation level", action::show, "SHOW", "transaction_isolation"},
    {"deallocate @", action::deallocate, "DEALLOCATE"},
    {"deallocate prepare @", action::deallocate, "DEALLOCATE"},
    {"discard all", action::ignored, "DISCARD ALL"},
    {"reset all", action::ignored, "RESET"},
    {"close all", action::ignored, "CLOSE CURSOR ALL"},
    {"unlisten *", action::ignored, "UNLISTEN"},
});

std::size_t as_parameter(const std::string& digits) {
  const auto n = digits.size() <= 4 && !digits.empty() ? std::stoul(digits) : 0;
  if (n == 0 || n > most_operands) throw sql_error("42P02", "there is no parameter $" + digits);
  return n;
}

type type_named(bytes name) {
  if (name == "int" || name == "integer" || name == "int4") return type::int4;
  if (name == "bigint" || name == "int8") return type::int8;
  if (name == "float8") return type::float8;
  if (name == "text" || name == "varchar") return type::text;
  throw sql_error("42704", "type \"" + std::string(name) + "\" does not exist");
}

type natural_type(const value& v) {
  if (std::holds_alternative<double>(v)) return type::float8;
  const auto* const whole = std::get_if<std::int64_t>(&v);
  if (whole == nullptr) return type::text;
  using small = std::numeric_limits<std::int32_t>;
  return *whole >= small::min() && *whole <= small::max() ? type::int4 : type::int8;
}

class parser {
 public:
  parser(bytes text, const std::vector<type>& given) : tokens_(tokenize(text)), given_(given) {}

  std::vector<statement> parse() {
    for (std::vector<statement> all;; all.push_back(parse_statement())) {
      while (skip(";")) continue;
      if (at_end()) return all;
    }
  }

 private:
  statement parse_statement();
  bool matches(bytes pattern);
  bool matches_element(bytes element);
  bool take_operand(type expected);
  bool take_operands();
  void settle(operand& o);
  void set_columns(bytes columns);

  [[nodiscard]] bool at_end() const { return tokens_[at_].is == token::kind::end; }
  bool skip(bytes word) { return tokens_[at_] == word && (++at_, true); }
  bool take_name() {
    if (at_end() || tokens_[at_] == ";") return false;
    s_.names.push_back(tokens_[at_++].value);
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
    s_ = {.does = p.does, .tag = std::string(p.tag)};
    if (matches(p.text) && (at_end() || tokens_[at_] == ";")) {
      for (operand& o : s_.operands) settle(o);
      set_columns(p.columns);
      return std::move(s_);
    }
    furthest = std::max(furthest, at_);
  }
  const token& unexpected = tokens_[furthest];
  if (unexpected.is == token::kind::end) throw sql_error("42601", "syntax error at end of input");
  throw sql_error("42601", "syntax error at or near \"" + unexpected.value + '"');
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
  if (element == "?@") return take_name(), true;
  if (element.front() == '?') return skip(element.substr(1)), true;
  if (element == "#i") return take_operand(type::int8);
  if (element == "#f") return take_operand(type::float8);
  if (element == "#t") return take_operand(type::text);
  if (element == "##") return take_operands();
  if (element != "..") return skip(element);
  while (!at_end() && tokens_[at_] != ";") ++at_;
  return true;
}

bool parser::take_operands() {
  do {
    if (s_.operands.size() == most_operands) throw sql_error("54011", "too many columns");
    if (!take_operand(type::unknown)) return false;
    const bool is_named = skip("as") || tokens_[at_].is == token::kind::word;
    if (!is_named) s_.names.emplace_back("?column?");
    if (is_named && !take_name()) return false;
  } while (skip(","));
  return true;
}

bool parser::take_operand(type expected) {
  operand& o = s_.operands.emplace_back();
  o.as = expected;
  const bool is_negative = skip("-");
  const token& t = tokens_[at_];
  if (t.is == token::kind::number) {
    const std::string digits = (is_negative ? "-" : "") + t.value;
    o.literal = parse_value(digits, digits.find('.') == digits.npos ? type::int8 : type::float8, format::text);
  } else if (t.is == token::kind::parameter) {
    o.parameter = as_parameter(t.value);
  } else if (t.is == token::kind::text) {
    o.literal = t.value;
  } else if (is_negative || !(t == "null")) {
    return false;
  }
  ++at_;
  if (skip("::")) o.as = type_named(tokens_[at_++].value);
  return true;
}

// Gives the operand its type. Of a parameter, the type that the client has named counts first, then the one of the
// first place where it stands.
void parser::settle(operand& o) {
  if (o.parameter == 0) {
    if (o.as == type::unknown) o.as = natural_type(o.literal);
    o.literal = convert(o.literal, o.as);
    return;
  }
  if (s_.parameters.size() < o.parameter) s_.parameters.resize(o.parameter, type::unknown);
  type& own = s_.parameters[o.parameter - 1];
  if (own == type::unknown && o.parameter <= given_.size()) own = given_[o.parameter - 1];
  if (own == type::unknown) own = o.as == type::unknown ? type::text : o.as;
  if (o.as == type::unknown) o.as = own;
}

void parser::set_columns(bytes columns) {
  if (s_.does == action::select_values)
    for (std::size_t i = 0; i < s_.operands.size(); ++i) s_.columns.push_back({s_.names[i], s_.operands[i].as});
  else if (s_.does == action::show)
    s_.columns = {{columns == "@" ? s_.names.front() : std::string(columns), type::text}};
  else if (columns == "kv")
    s_.columns = {{"k", type::int8}, {"v", type::text}};
  else if (columns == "v")
    s_.columns = {{"v", type::text}};
  else if (!columns.empty())
    s_.columns = {{s_.does == action::series && s_.names.back() != "*" ? s_.names.back() : std::string(columns),
                   s_.does == action::sleep ? type::void_ : type::int8}};
}

}  // namespace

std::vector<statement> parse_sql(bytes text, const std::vector<type>& given) { return parser(text, given).parse(); }

}  // namespace postgres
