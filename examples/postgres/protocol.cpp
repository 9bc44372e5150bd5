// SPDX-License-Identifier: BSL-1.0
// protocol: numbers are big-endian.
#include "protocol.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

namespace postgres {
namespace {

constexpr auto big = std::endian::big;

template <class Number>
Number to_number(bytes text) {
  Number n{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (failure == std::errc::result_out_of_range) throw sql_error("22003", "number out of range: " + std::string(text));
  if (failure != std::errc() || end != text.data() + text.size())
    throw sql_error("22P02", "invalid input syntax for a number: \"" + std::string(text) + '"');
  return n;
}

template <std::size_t Width>
std::string encoded(std::uint64_t n) {
  const auto raw = quintet::encode_number<Width, big>(n & quintet::largest_number(Width));
  return {raw.data(), raw.size()};
}

std::int16_t size_of(type t) noexcept {
  if (t == type::int2) return 2;
  if (t == type::int4 || t == type::no_value) return 4;
  return t == type::int8 || t == type::float8 ? 8 : -1;
}

}  // namespace

std::int64_t to_integer(bytes text) { return to_number<std::int64_t>(text); }
double to_float(bytes text) { return to_number<double>(text); }

std::string to_binary(bytes text, type of) {
  if (of == type::int2) return encoded<2>(static_cast<std::uint64_t>(to_number<std::int16_t>(text)));
  if (of == type::int4) return encoded<4>(static_cast<std::uint64_t>(to_number<std::int32_t>(text)));
  if (of == type::int8) return encoded<8>(static_cast<std::uint64_t>(to_number<std::int64_t>(text)));
  if (of == type::float8) return encoded<8>(std::bit_cast<std::uint64_t>(to_number<double>(text)));
  return std::string(text);
}

std::string to_text(bytes binary, type of) {
  if (of == type::text || of == type::no_value) return std::string(binary);
  if (size_of(of) < 0) throw sql_error("0A000", "a parameter of this type must be sent as text");
  if (static_cast<int>(binary.size()) != size_of(of)) throw sql_error("22P03", "incorrect binary data format");
  message_reader in(binary);
  if (of == type::int2) return std::to_string(in.int16());
  if (of == type::int4) return std::to_string(in.int32());
  const std::uint64_t raw = quintet::decode_number<8, big>(binary);
  if (of == type::int8) return std::to_string(static_cast<std::int64_t>(raw));
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), std::bit_cast<double>(raw)).ptr};
}

value convert(const value& v, type to) {
  if (v && to == type::int4) return std::to_string(to_number<std::int32_t>(*v));
  if (v && to == type::int8) return std::to_string(to_number<std::int64_t>(*v));
  const bool is_number = size_of(to) > 0 && to != type::no_value;
  return v && is_number ? value(to_text(to_binary(*v, to), to)) : v;
}

bytes message_reader::take(std::size_t size) {
  if (rest_.size() < size) throw fatal_error("08P01", "insufficient data left in message");
  const bytes taken = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return taken;
}

std::string message_reader::string() {
  const std::size_t size = rest_.find('\0');
  if (size == rest_.npos) throw fatal_error("08P01", "invalid string in message");
  return std::string(take(size + 1).substr(0, size));
}

void message_writer::begin(char type) {
  const std::array<char, message_header> header{type};
  length_at_ = out_.size() + 1;
  out_.append(header.data(), header.size());
}

void message_writer::end() {
  const auto length = quintet::encode_number<4, big>(out_.size() - length_at_);
  std::copy(length.begin(), length.end(), out_.begin() + static_cast<std::ptrdiff_t>(length_at_));
}

void message_writer::put(std::int16_t n) {
  const auto raw = quintet::encode_number<2, big>(static_cast<std::uint16_t>(n));
  out_.append(raw.data(), raw.size());
}
void message_writer::put(std::int32_t n) {
  const auto raw = quintet::encode_number<4, big>(static_cast<std::uint32_t>(n));
  out_.append(raw.data(), raw.size());
}

void message_writer::authentication(std::int32_t kind, bytes data) {
  begin('R');
  put(kind);
  out_ += data;
  end();
}

void message_writer::parameter_description(std::span<const type> types) {
  begin('t');
  put(static_cast<std::int16_t>(types.size()));
  for (const type t : types) put(static_cast<std::int32_t>(t));
  end();
}

void message_writer::row_description(std::span<const column> columns, std::span<const format> formats) {
  begin('T');
  put(static_cast<std::int16_t>(columns.size()));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    put(columns[i].name);
    put(std::int32_t{0});  // of no table
    put(std::int16_t{0});
    put(static_cast<std::int32_t>(columns[i].type));
    put(size_of(columns[i].type));
    put(std::int32_t{-1});  // the type has no modifier
    put(static_cast<std::int16_t>(format_of(formats, i)));
  }
  end();
}

void message_writer::data_row(std::span<const value> values, std::span<const column> columns,
                              std::span<const format> formats) {
  begin('D');
  put(static_cast<std::int16_t>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i]) {
      put(std::int32_t{-1});
      continue;
    }
    const bool is_binary = format_of(formats, i) == format::binary;
    const std::string binary = is_binary ? to_binary(*values[i], columns[i].type) : std::string();
    const bytes data = is_binary ? bytes(binary) : bytes(*values[i]);
    put(static_cast<std::int32_t>(data.size()));
    out_ += data;
  }
  end();
}

void message_writer::response(char type, bytes severity, const sql_error& e) {
  message(type, 'S', severity, 'V', severity, 'C', bytes(e.sqlstate()), 'M', bytes(e.what()), '\0');
}

}  // namespace postgres
