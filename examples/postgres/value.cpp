// SPDX-License-Identifier: BSL-1.0
// value: text comes from std::to_chars, binary is big-endian.
#include "value.hpp"

#include "error.hpp"

#include <quintet/base/encoding/integers.hpp>

#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <limits>

namespace postgres {

using quintet::bytes;

namespace {

template <class Number>
void append_number(std::string& to, Number n) {
  std::array<char, 32> text;  // NOLINT: written before it is read
  to.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), n).ptr);
}

template <std::size_t Width>
void append_binary(std::string& to, std::uint64_t n) {
  const auto raw = quintet::encode_number<Width, std::endian::big>(n);
  to.append(raw.data(), raw.size());
}

[[noreturn]] void refuse(bytes text, const char* type_name) {
  throw sql_error("22P02",
                  std::string("invalid input syntax for type ") + type_name + ": \"" + std::string(text) + '"');
}

template <class Number>
Number to_number(bytes text, const char* type_name) {
  Number n{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (failure == std::errc::result_out_of_range)
    throw sql_error("22003", "value \"" + std::string(text) + "\" is out of range for type " + type_name);
  if (failure != std::errc() || end != text.data() + text.size()) refuse(text, type_name);
  return n;
}

std::int64_t in_range(std::int64_t n, type t) {
  const std::int64_t largest = t == type::int2   ? std::numeric_limits<std::int16_t>::max()
                               : t == type::int4 ? std::numeric_limits<std::int32_t>::max()
                                                 : std::numeric_limits<std::int64_t>::max();
  if (n > largest || n < -largest - 1) throw sql_error("22003", "integer out of range");
  return n;
}

bool is_number(type t) noexcept { return is_integer(t) || t == type::float8; }

value parse_binary(bytes from, type as) {
  constexpr auto big = std::endian::big;
  if (as == type::text) return std::string(from);
  if (!is_number(as)) throw sql_error("0A000", "parameters of this type must be sent as text");
  if (from.size() != static_cast<std::size_t>(size_of(as))) throw sql_error("22P03", "incorrect binary data format");
  if (as == type::int2) return std::int64_t{static_cast<std::int16_t>(quintet::decode_number<2, big>(from))};
  if (as == type::int4) return std::int64_t{static_cast<std::int32_t>(quintet::decode_number<4, big>(from))};
  const std::uint64_t raw = quintet::decode_number<8, big>(from);
  if (as == type::float8) return std::bit_cast<double>(raw);
  return static_cast<std::int64_t>(raw);
}

}  // namespace

std::int16_t size_of(type t) noexcept {
  switch (t) {
    case type::int2:
      return 2;
    case type::int4:
    case type::void_:
      return 4;
    case type::int8:
    case type::float8:
      return 8;
    default:
      return -1;
  }
}

void append_value(std::string& to, const value& v, type as, format in) {
  if (const auto* text = std::get_if<std::string>(&v)) {
    to += *text;
  } else if (const auto* real = std::get_if<double>(&v)) {
    if (in == format::text) return append_number(to, *real);
    append_binary<8>(to, std::bit_cast<std::uint64_t>(*real));
  } else if (const auto* whole = std::get_if<std::int64_t>(&v)) {
    const auto raw = static_cast<std::uint64_t>(*whole);
    if (in == format::text) return append_number(to, *whole);
    if (as == type::int2) return append_binary<2>(to, raw & 0xffffU);
    if (as == type::int4) return append_binary<4>(to, raw & 0xffffffffU);
    append_binary<8>(to, raw);
  }
}

value parse_value(bytes from, type as, format in) {
  if (in == format::binary) return parse_binary(from, as);
  if (is_integer(as)) return in_range(to_number<std::int64_t>(from, "bigint"), as);
  if (is_number(as)) return to_number<double>(from, "double precision");
  return std::string(from);
}

value convert(const value& v, type to) {
  if (std::holds_alternative<null>(v)) return v;
  if (const auto* text = std::get_if<std::string>(&v)) return parse_value(*text, to, format::text);
  if (is_integer(to)) {
    if (const auto* whole = std::get_if<std::int64_t>(&v)) return in_range(*whole, to);
    throw sql_error("42804", "a number with a fraction is no integer");
  }
  if (is_number(to)) return std::holds_alternative<double>(v) ? v : double(std::get<std::int64_t>(v));
  std::string text;
  append_value(text, v, type::text, format::text);
  return text;
}

}  // namespace postgres
