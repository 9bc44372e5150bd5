// SPDX-License-Identifier: BSL-1.0
// protocol: numbers are big-endian, texts end with a zero byte.
#include "protocol.hpp"

#include <algorithm>

namespace postgres {

bytes message_reader::take(std::size_t size) {
  if (rest_.size() < size) throw fatal_error("08P01", "insufficient data left in message");
  const bytes taken = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return taken;
}

bytes message_reader::string() {
  const std::size_t size = rest_.find('\0');
  if (size == rest_.npos) throw fatal_error("08P01", "invalid string in message");
  return take(size + 1).substr(0, size);
}

void message_reader::end() const {
  if (!rest_.empty()) throw fatal_error("08P01", "invalid message format");
}

void message_writer::begin(char type) {
  out_ += type;
  length_at_ = out_.size();
  out_.append(4, '\0');
}

void message_writer::end() {
  const auto length = quintet::encode_number<4, std::endian::big>(out_.size() - length_at_);
  std::copy(length.begin(), length.end(), out_.begin() + static_cast<std::ptrdiff_t>(length_at_));
}

void message_writer::int16(std::int64_t n) {
  const auto raw = quintet::encode_number<2, std::endian::big>(static_cast<std::uint64_t>(n) & 0xffffU);
  out_.append(raw.data(), raw.size());
}

void message_writer::int32(std::int64_t n) {
  const auto raw = quintet::encode_number<4, std::endian::big>(static_cast<std::uint64_t>(n) & 0xffffffffU);
  out_.append(raw.data(), raw.size());
}

void message_writer::authentication(std::int32_t code, bytes data) {
  begin('R');
  int32(code);
  out_ += data;
  end();
}

void message_writer::parameter_status(bytes name, bytes setting) {
  begin('S');
  string(name);
  string(setting);
  end();
}

void message_writer::backend_key_data(std::int32_t process, std::int32_t secret) {
  begin('K');
  int32(process);
  int32(secret);
  end();
}

void message_writer::ready_for_query(char status) {
  begin('Z');
  out_ += status;
  end();
}

void message_writer::parameter_description(std::span<const type> types) {
  begin('t');
  int16(static_cast<std::int64_t>(types.size()));
  for (const type t : types) int32(static_cast<std::int32_t>(t));
  end();
}

void message_writer::row_description(std::span<const column> columns, std::span<const format> formats) {
  begin('T');
  int16(static_cast<std::int64_t>(columns.size()));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    string(columns[i].name);
    int32(0);  // of no table
    int16(0);
    int32(static_cast<std::int32_t>(columns[i].type));
    int16(size_of(columns[i].type));
    int32(-1);  // the type has no modifier
    int16(static_cast<std::int16_t>(format_of(formats, i)));
  }
  end();
}

void message_writer::data_row(std::span<const value> values, std::span<const column> columns,
                              std::span<const format> formats) {
  begin('D');
  int16(static_cast<std::int64_t>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::holds_alternative<null>(values[i])) {
      int32(-1);
      continue;
    }
    const std::size_t at = out_.size();
    int32(0);
    append_value(out_, values[i], columns[i].type, format_of(formats, i));
    const auto size = quintet::encode_number<4, std::endian::big>(out_.size() - at - 4);
    std::copy(size.begin(), size.end(), out_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  end();
}

void message_writer::command_complete(bytes tag) {
  begin('C');
  string(tag);
  end();
}

void message_writer::response(char type, const char* severity, const sql_error& e) {
  begin(type);
  string(std::string("S") + severity);  // may be translated
  string(std::string("V") + severity);  // never is
  string(std::string("C") + e.sqlstate());
  string(std::string("M") + e.what());
  out_ += '\0';
  end();
}

}  // namespace postgres
