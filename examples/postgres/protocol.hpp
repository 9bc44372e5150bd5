// SPDX-License-Identifier: BSL-1.0
// protocol: messages of PostgreSQL's protocol, version 3. Names are those of its documentation, chapter 55.
#pragma once

#include "error.hpp"
#include "value.hpp"

#include <quintet/base/framing/length_prefix.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace postgres {

using quintet::bytes;

/// A message after the login: its type, a length that counts itself, a body. The codec returns all three.
using message_codec = quintet::length_prefix<4, std::endian::big, 1, -4>;
/// A message before it has no type. The codec returns the body.
using startup_codec = quintet::length_prefix<4, std::endian::big, 0, -4>;

inline constexpr std::size_t message_header = 5;
inline constexpr std::size_t largest_message = 1024 * 1024;
inline constexpr std::size_t largest_startup_packet = 10'000;

/// The first number of a startup packet.
enum class startup_code : std::int32_t {
  protocol_3_0 = 3 << 16,
  cancel_request = (1234 << 16) | 5678,
  ssl_request = (1234 << 16) | 5679,
  gssenc_request = (1234 << 16) | 5680,
};

/// Takes the fields of a body in their order. Throws fatal_error 08P01 where the body ends too early.
class message_reader {
 public:
  explicit message_reader(bytes body) noexcept : rest_(body) {}
  std::int16_t int16() { return static_cast<std::int16_t>(quintet::decode_number<2, std::endian::big>(take(2))); }
  std::int32_t int32() { return static_cast<std::int32_t>(quintet::decode_number<4, std::endian::big>(take(4))); }
  char byte() { return take(1).front(); }
  bytes take(std::size_t size);
  /// Takes a text up to the zero byte that ends it.
  bytes string();
  [[nodiscard]] bytes rest() const noexcept { return rest_; }
  /// Throws fatal_error 08P01 if there is more.
  void end() const;

 private:
  bytes rest_;
};

/// Appends messages to a buffer.
class message_writer {
 public:
  void authentication(std::int32_t code, bytes data = {});
  void parameter_status(bytes name, bytes setting);
  void backend_key_data(std::int32_t process, std::int32_t secret);
  /// `status`: 'I' idle, 'T' in a transaction, 'E' in a failed one.
  void ready_for_query(char status);
  void parameter_description(std::span<const type> types);
  /// `formats` as in Bind: none, one for all columns, or one for each.
  void row_description(std::span<const column> columns, std::span<const format> formats);
  void data_row(std::span<const value> values, std::span<const column> columns, std::span<const format> formats);
  void command_complete(bytes tag);
  void error_response(const char* severity, const sql_error& e) { response('E', severity, e); }
  void notice_response(const char* severity, const sql_error& e) { response('N', severity, e); }
  /// ParseComplete '1', BindComplete '2', CloseComplete '3', NoData 'n', EmptyQueryResponse 'I', PortalSuspended 's'.
  void bare(char type) { begin(type), end(); }

  [[nodiscard]] const std::string& data() const noexcept { return out_; }
  void clear() noexcept { out_.clear(); }

 private:
  void begin(char type);
  void end();
  void int16(std::int64_t n);
  void int32(std::int64_t n);
  void string(bytes text) { out_.append(text) += '\0'; }
  void response(char type, const char* severity, const sql_error& e);

  std::string out_;
  std::size_t length_at_ = 0;  // where the length of the message being written is
};

/// Returns the format of a column.
[[nodiscard]] inline format format_of(std::span<const format> formats, std::size_t column) noexcept {
  return formats.empty() ? format::text : formats[formats.size() == 1 ? 0 : column];
}

}  // namespace postgres
