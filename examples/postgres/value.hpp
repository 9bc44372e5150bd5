// SPDX-License-Identifier: BSL-1.0
// value: the types of PostgreSQL that this server has, and values of them as text and in binary.
#pragma once

#include <quintet/base/bytes.hpp>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace postgres {

/// Object ids, as in pg_type.
enum class type : std::int32_t {
  unknown = 0,  ///< of a parameter: to be found out
  int8 = 20,
  int2 = 21,
  int4 = 23,
  text = 25,
  float8 = 701,
  void_ = 2278,
};

struct null {
  bool operator==(const null&) const = default;
};
using value = std::variant<null, std::int64_t, double, std::string>;

struct column {
  std::string name;
  postgres::type type;
};

/// In Bind and RowDescription.
enum class format : std::int16_t { text = 0, binary = 1 };

[[nodiscard]] constexpr bool is_integer(type t) noexcept {
  return t == type::int2 || t == type::int4 || t == type::int8;
}
/// Returns the size of a type's values, -1 if it varies.
[[nodiscard]] std::int16_t size_of(type t) noexcept;

/// Appends the value, which is not null.
void append_value(std::string& to, const value& v, type as, format in);
/// Returns the value that a client has sent. Throws sql_error for text or a size that is none of this type.
[[nodiscard]] value parse_value(quintet::bytes from, type as, format in);
/// Returns `v` as another type: a number in a text column, a text of digits where a number is expected. Throws
/// sql_error if it is none.
[[nodiscard]] value convert(const value& v, type to);

}  // namespace postgres
