// SPDX-License-Identifier: BSL-1.0
// record: the bytes of a sequence, which say for themselves who has written them, as which, and how many they are.
#pragma once

#include "step.hpp"

#include <quintet/base/memory/byte_chain.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace quintet::testing {

/// What the server sends. `size` is all of it, at least record_head.
inline constexpr std::size_t record_head = 24;
[[nodiscard]] std::string make_record(char writer, std::uint32_t sequence, std::size_t size);

/// Takes records apart as their bytes arrive; keeps none of them.
class record_reader {
 public:
  /// Called for each record when its last byte has arrived.
  std::function<void(char writer, std::uint32_t sequence, std::size_t size)> on_record;
  /// What is wrong with the bytes, if anything.
  [[nodiscard]] std::string take(bytes arrived);
  [[nodiscard]] bool is_within() const { return !head_.empty() || left_ > 0; }

 private:
  [[nodiscard]] std::string begin();

  std::string head_;
  char writer_ = 0;
  std::uint32_t sequence_ = 0;
  std::size_t size_ = 0, left_ = 0;
};

/// What a client sends: one line.
struct command {
  std::uint32_t sequence = 0;
  action does = action::reply;
  std::uint32_t amount = 0;
  std::size_t size = 0;  ///< of the line
};
inline constexpr std::size_t size_field = 6;  ///< of a command's first bytes, which say how long it is
[[nodiscard]] std::string make_line(const command& c, std::size_t filler);
/// The first line of the input, if it is there; `wrong` is set where the bytes are no line of a client.
[[nodiscard]] std::optional<command> read_line(bytes in, bool& wrong);
/// From the first bytes.
[[nodiscard]] std::size_t line_size(bytes in);

}  // namespace quintet::testing
