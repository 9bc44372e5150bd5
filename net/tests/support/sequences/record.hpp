// SPDX-License-Identifier: BSL-1.0
// record: the bytes of a sequence; each record contains its writer, its sequence number and its size.
#pragma once

#include "step.hpp"

#include <quintet/base/memory/byte_chain.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace quintet::testing {

/// Bytes of a record's head.
inline constexpr std::size_t record_head = 24;
/// Returns a record, which the server sends. `size`: bytes of the whole record, at least record_head.
[[nodiscard]] std::string make_record(char writer, std::uint32_t sequence, std::size_t size);

/// Parses and checks records as their bytes arrive. Stores no bodies.
class record_reader {
 public:
  /// Called for each record when its last byte has arrived.
  std::function<void(char writer, std::uint32_t sequence, std::size_t size)> on_record;
  /// Checks the next bytes. Returns the error, or an empty string.
  [[nodiscard]] std::string take(bytes arrived);
  [[nodiscard]] bool is_within() const { return !head_.empty() || left_ > 0; }

 private:
  [[nodiscard]] std::string begin();

  std::string head_;
  char writer_ = 0;
  std::uint32_t sequence_ = 0;
  std::size_t size_ = 0, left_ = 0;
};

/// A client's command: one line.
struct command {
  std::uint32_t sequence = 0;
  action does = action::reply;
  std::uint32_t amount = 0;
  std::size_t size = 0;  ///< bytes of the line
};
inline constexpr std::size_t size_field = 6;  ///< bytes at the start of a line that hold its size
[[nodiscard]] std::string make_line(const command& c, std::size_t filler);
/// Returns the first line of the input, if it is complete. Sets `wrong` if the bytes are not a client's line.
[[nodiscard]] std::optional<command> read_line(bytes in, bool& wrong);
/// Returns the size of the line from its first size_field bytes.
[[nodiscard]] std::size_t line_size(bytes in);

}  // namespace quintet::testing
