// SPDX-License-Identifier: BSL-1.0
// protocol.hpp: the little of PostgreSQL's protocol that pgbench needs for `SELECT 1`, without I/O, without Quintet.
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace quintet::bench {

/// Ends the connection: the client does not speak the protocol.
struct protocol_error : std::runtime_error {
  using runtime_error::runtime_error;
};
/// Ends a statement.
struct statement_error : std::runtime_error {
  statement_error(const char* code, const std::string& what) : runtime_error(what), sqlstate(code) {}
  const char* sqlstate;
};

inline std::uint32_t big_endian(std::string_view from) {
  std::uint32_t n = 0;
  for (const char c : from) n = n << 8U | static_cast<unsigned char>(c);
  return n;
}

/// Takes fields from a message's body, and throws where it ends too early.
class fields {
 public:
  explicit fields(std::string_view body) : rest_(body) {}
  std::string_view take(std::size_t size) {
    if (rest_.size() < size) throw protocol_error("insufficient data left in message");
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  std::string_view text() {
    const std::size_t size = rest_.find('\0');
    if (size == rest_.npos) throw protocol_error("a text in a message does not end");
    const std::string_view taken = take(size);
    rest_.remove_prefix(1);
    return taken;
  }
  std::uint32_t int32() { return big_endian(take(4)); }
  std::uint32_t int16() { return big_endian(take(2)); }

 private:
  std::string_view rest_;
};

/// A message that is appended to `out`. The destructor writes its length.
class message {
 public:
  message(std::string& out, char type) : out_(out) {
    out_ += type;
    begin_ = out_.size();
    out_.append(4, '\0');
  }
  message(const message&) = delete;
  message& operator=(const message&) = delete;
  ~message() {
    const auto length = encoded(static_cast<std::uint32_t>(out_.size() - begin_));
    std::copy(length.begin(), length.end(), out_.begin() + static_cast<std::ptrdiff_t>(begin_));
  }
  message& int32(std::uint32_t n) {
    const auto raw = encoded(n);
    out_.append(raw.data(), raw.size());
    return *this;
  }
  message& int16(std::uint32_t n) {
    out_.append(encoded(n).data() + 2, 2);
    return *this;
  }
  message& raw(std::string_view data) {
    out_ += data;
    return *this;
  }
  message& text(std::string_view data) {
    (out_ += data) += '\0';
    return *this;
  }

 private:
  static std::array<char, 4> encoded(std::uint32_t n) {
    return {static_cast<char>(n >> 24U), static_cast<char>(n >> 16U), static_cast<char>(n >> 8U), static_cast<char>(n)};
  }
  std::string& out_;
  std::size_t begin_;
};

/// One client. The only statement is `SELECT <number>`.
class postgres_session {
 public:
  /// Answers the complete messages at the front of `in` by what it appends to `out`. Returns their size. Throws
  /// protocol_error.
  std::size_t serve(std::string_view in, std::string& out) {
    std::size_t taken = 0;
    while (!is_over_) {
      const std::size_t header = has_begun_ ? 5 : 4;
      if (in.size() - taken < header) break;
      const std::size_t length = big_endian(in.substr(taken + header - 4, 4));
      if (length < 4 || length > largest) throw protocol_error("invalid message length");
      const std::size_t size = header - 4 + length;
      if (in.size() - taken < size) break;
      const fields body(in.substr(taken + header, length - 4));
      if (has_begun_)
        process(in[taken], body, out);
      else
        start(body, out);
      taken += size;
    }
    return taken;
  }
  /// Whether the connection is to be closed after the output.
  [[nodiscard]] bool is_over() const { return is_over_; }

 private:
  static constexpr std::size_t largest = 1024 * 1024;
  static constexpr std::uint32_t version = 3U << 16U, ssl_request = 80877103, gss_request = 80877104, int4 = 23;
  using number = std::string;  // that a statement returns; none: the text was empty
  using named = std::map<std::string, number, std::less<>>;

  void start(fields body, std::string& out) {
    const std::uint32_t code = body.int32();
    if (code == ssl_request || code == gss_request) {
      out += 'N';
      return;
    }
    if (code != version) throw protocol_error("unsupported version");
    while (!body.text().empty()) (void)body.text();  // parameters
    has_begun_ = true;
    message(out, 'R').int32(0);  // AuthenticationOk
    message(out, 'S').text("server_version").text("15.0");
    message(out, 'S').text("client_encoding").text("UTF8");
    message(out, 'K').int32(1).int32(1);  // BackendKeyData
    message(out, 'Z').raw("I");           // ReadyForQuery
  }

  void process(char type, fields body, std::string& out) {
    if (is_skipping_ && type != 'S' && type != 'X') return;
    try {
      answer(type, body, out);
    } catch (const statement_error& e) {
      message(out, 'E').raw("S").text("ERROR").raw("C").text(e.sqlstate).raw("M").text(e.what()).text("");
      is_skipping_ = type != 'Q';
    }
    if (type == 'Q' || type == 'S') message(out, 'Z').raw("I");  // ReadyForQuery
  }

  void answer(char type, fields body, std::string& out) {
    if (type == 'Q') return query(parse(body.text()), out);
    if (type == 'P') return prepare(body, out);
    if (type == 'B') return bind(body, out);
    if (type == 'D') return describe(body, out);
    if (type == 'E') return execute(find(portals_, body.text()), out);
    if (type == 'C') {
      (body.take(1) == "P" ? portals_ : statements_).erase(std::string(body.text()));
      message(out, '3');
    } else if (type == 'S') {
      is_skipping_ = false;
      portals_.clear();
    } else if (type == 'X') {
      is_over_ = true;
    } else if (type != 'H') {
      throw protocol_error("unknown message type");
    }
  }

  static void query(const number& value, std::string& out) {
    if (!value.empty()) describe_row(out);
    execute(value, out);
  }

  void prepare(fields body, std::string& out) {
    std::string name(body.text());
    statements_.insert_or_assign(std::move(name), parse(body.text()));
    message(out, '1');
  }

  void bind(fields body, std::string& out) {
    std::string portal(body.text());
    const number& value = find(statements_, body.text());
    for (std::uint32_t n = body.int16(); n > 0; --n) (void)body.int16();  // formats of parameters
    if (body.int16() != 0) throw statement_error("08P01", "the statement has no parameters");
    for (std::uint32_t n = body.int16(); n > 0; --n)
      if (body.int16() != 0) throw statement_error("0A000", "results are only sent as text");
    portals_.insert_or_assign(std::move(portal), value);
    message(out, '2');
  }

  void describe(fields body, std::string& out) const {
    const bool is_portal = body.take(1) == "P";
    const number& value = find(is_portal ? portals_ : statements_, body.text());
    if (!is_portal) message(out, 't').int16(0);  // ParameterDescription
    if (value.empty())
      message(out, 'n');  // NoData
    else
      describe_row(out);
  }

  static void describe_row(std::string& out) {
    message(out, 'T').int16(1).text("?column?").int32(0).int16(0).int32(int4).int16(4).int32(~0U).int16(0);
  }

  static void execute(const number& value, std::string& out) {
    if (value.empty()) return void(message(out, 'I'));  // EmptyQueryResponse
    message(out, 'D').int16(1).int32(static_cast<std::uint32_t>(value.size())).raw(value);
    message(out, 'C').text("SELECT 1");
  }

  static number parse(std::string_view sql) {
    const auto skip = [&sql](auto predicate) {
      const auto end = std::find_if_not(sql.begin(), sql.end(), [&](unsigned char c) { return predicate(c); });
      const std::string_view skipped = sql.substr(0, static_cast<std::size_t>(end - sql.begin()));
      sql.remove_prefix(skipped.size());
      return skipped;
    };
    const auto is_blank = [](unsigned char c) { return std::isspace(c) != 0; };
    skip(is_blank);
    const std::string_view word = skip([](unsigned char c) { return std::isalpha(c) != 0; });
    skip(is_blank);
    constexpr std::string_view select = "select";
    const bool is_select = std::equal(word.begin(), word.end(), select.begin(), select.end(),
                                      [](unsigned char a, char b) { return std::tolower(a) == b; });
    const std::string_view digits = skip([](unsigned char c) { return std::isdigit(c) != 0; });
    skip([&](unsigned char c) { return is_blank(c) || c == ';'; });
    const bool is_empty = word.empty() && digits.empty();
    if (!sql.empty() || (!is_empty && (!is_select || digits.empty() || digits.size() > 9)))
      throw statement_error("42601", "the only statement is SELECT and a number");
    return number(digits);
  }

  static const number& find(const named& in, std::string_view name) {
    const auto found = in.find(name);
    if (found == in.end()) throw statement_error("26000", "no such statement or portal");
    return found->second;
  }

  bool has_begun_ = false, is_over_ = false, is_skipping_ = false;
  named statements_, portals_;
};

}  // namespace quintet::bench
