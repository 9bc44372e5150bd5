// SPDX-License-Identifier: BSL-1.0
// protocol: errors, values and messages of PostgreSQL's protocol 3.0. Names are those of its documentation, chapter 55.
#pragma once

#include <quintet/base/framing/length_prefix.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace postgres {

using quintet::bytes;

/// Ends a statement: the client gets the message and the SQLSTATE code.
class sql_error : public std::runtime_error {
 public:
  sql_error(const char* sqlstate, const std::string& message) : std::runtime_error(message), sqlstate_(sqlstate) {}
  [[nodiscard]] const char* sqlstate() const noexcept { return sqlstate_; }

 private:
  const char* sqlstate_;
};
/// Ends the connection.
class fatal_error : public sql_error {
 public:
  using sql_error::sql_error;
};

/// Object ids, as in pg_type. `unknown`: the client leaves the type of a parameter to the server.
enum class type : std::int32_t { unknown = 0, int8 = 20, int2, int4 = 23, text = 25, float8 = 701, no_value = 2278 };
enum class format : std::int16_t { text, binary };
/// A value in the text format, or null.
using value = std::optional<std::string>;
struct column {
  std::string name;
  postgres::type type;
};

/// Convert a value to the other format. Throw sql_error if it is not of this type.
[[nodiscard]] std::string to_binary(bytes text, type of);
[[nodiscard]] std::string to_text(bytes binary, type of);
/// Returns the value in the form that this type has in results: "007" becomes "7". Throws sql_error if it is of another
/// type.
[[nodiscard]] value convert(const value& v, type to);
/// Throw sql_error if the text is not a number.
[[nodiscard]] std::int64_t to_integer(bytes text);
[[nodiscard]] double to_float(bytes text);
/// Returns the format of a column. Bind gives no format (all are text), one for all columns, or one for each.
[[nodiscard]] inline format format_of(std::span<const format> formats, std::size_t column) noexcept {
  return formats.empty() ? format::text : formats[formats.size() == 1 ? 0 : column];
}

/// A message after the startup has a type, a length that counts itself, and a body. The codec returns all three.
using message_codec = quintet::length_prefix<4, std::endian::big, 1, -4>;
inline constexpr std::size_t message_header = 5, largest_message = 1024 * 1024;
/// A message of the startup has no type. The codec returns the body, which begins with one of these numbers.
using startup_codec = quintet::length_prefix<4, std::endian::big, 0, -4>;
inline constexpr std::size_t largest_startup_message = 10'000;
inline constexpr std::int32_t protocol_version = 3 << 16, cancel_request = (1234 << 16) | 5678,
                              ssl_request = (1234 << 16) | 5679, gssenc_request = (1234 << 16) | 5680;

/// Takes the fields of a body one by one. Throws fatal_error 08P01 if the body ends too early.
class message_reader {
 public:
  explicit message_reader(bytes body) noexcept : rest_(body) {}
  std::int16_t int16() { return static_cast<std::int16_t>(quintet::decode_number<2, std::endian::big>(take(2))); }
  std::int32_t int32() { return static_cast<std::int32_t>(quintet::decode_number<4, std::endian::big>(take(4))); }
  char byte() { return take(1).front(); }
  [[nodiscard]] std::size_t size() const noexcept { return rest_.size(); }
  bytes take(std::size_t size);
  /// Takes a text up to the zero byte that ends it.
  std::string string();

 private:
  bytes rest_;
};

/// Appends messages to a buffer.
class message_writer {
 public:
  /// Fields: a char, an int16_t, an int32_t, or a text, which ends with a zero byte.
  template <class... Fields>
  void message(char type, const Fields&... fields) {
    begin(type);
    (put(fields), ...);
    end();
  }
  /// An Authentication message that has data: AuthenticationSASL, for example.
  void authentication(std::int32_t kind, bytes data);
  void row_description(std::span<const column> columns, std::span<const format> formats);
  void data_row(std::span<const value> values, std::span<const column> columns, std::span<const format> formats);
  void parameter_description(std::span<const type> types);
  /// ErrorResponse 'E' or NoticeResponse 'N'.
  void response(char type, bytes severity, const sql_error& e);

  [[nodiscard]] const std::string& data() const noexcept { return out_; }
  /// Keeps the memory of a short answer only: most sessions are idle.
  void clear() noexcept {
    constexpr std::size_t most_kept = 256;
    if (out_.capacity() > most_kept)
      out_ = std::string();
    else
      out_.clear();
  }

 private:
  void begin(char type);
  void end();
  void put(char c) { out_ += c; }
  void put(std::int16_t n);
  void put(std::int32_t n);
  void put(bytes text) { (out_ += text) += '\0'; }

  std::string out_;
  std::size_t length_at_ = 0;  // position of the length field in the message that is being written
};

}  // namespace postgres
