// SPDX-License-Identifier: BSL-1.0
// wire: the messages of the tutorial's servers from step 2 on: their length in four bytes, then text.
#pragma once

#include <quintet/net/framed.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>

namespace tutorial {

/// No message is longer than 4 KiB. The codec refuses a longer one when its length has arrived.
inline constexpr quintet::length_prefix<4> wire(4096);

/// Writes one message. A connection that cannot take it closes, and on_close gets the reason.
inline void reply(quintet::connection& c, quintet::bytes text) {
  if (const auto ec = quintet::write_message(c, wire, text)) c.close(ec);
}

/// Removes the first word from `text` and returns it.
inline quintet::bytes take_word(quintet::bytes& text) {
  const quintet::bytes word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

/// Returns the whole number from 0 to `most` that `text` is.
inline std::optional<std::size_t> to_number(quintet::bytes text, std::size_t most) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > most) return std::nullopt;
  return value;
}

}  // namespace tutorial
