// SPDX-License-Identifier: BSL-1.0
// frame: what a codec finds at the front of the input, and what a codec is.
#pragma once

#include "../bytes.hpp"
#include "../error.hpp"

#include <concepts>
#include <cstddef>
#include <limits>

namespace quintet {

/// The limit of a codec that is not told another one.
inline constexpr std::size_t default_max_message = 64 * 1024;
/// What a limit may be at most, so that sums of sizes do not overflow.
inline constexpr std::size_t largest_max_message = std::numeric_limits<std::size_t>::max() / 4;

/// One of four things, which `is` names.
struct frame {
  enum class state : unsigned char {
    incomplete,  ///< more input is needed
    complete,    ///< `message` is there
    taken,       ///< the codec has used something, and has no message yet: a part of one, or padding
    failed,      ///< what is there can never become a message; the stream is of no use any more
  };

  state is = state::incomplete;
  /// complete, taken: how much of the input it takes, at least 1. incomplete: how long the input has to be at least
  /// before parsing again can help; more than it is now.
  std::size_t size = 0;
  bytes message = {};     ///< complete: within the input, or the codec's own; valid until either changes
  error_code error = {};  ///< failed

  static frame incomplete(std::size_t needed) noexcept { return {.is = state::incomplete, .size = needed}; }
  static frame complete(bytes message, std::size_t size) noexcept {
    return {.is = state::complete, .size = size, .message = message};
  }
  static frame taken(std::size_t size) noexcept { return {.is = state::taken, .size = size}; }
  static frame failed(error_code why) noexcept { return {.is = state::failed, .error = why}; }
};

/// parse() is given all unused input, from its first byte on. After `incomplete` it is called again with the same bytes
/// and more behind them; so it may remember how far it has looked. A codec belongs to one direction of one connection;
/// its copies begin anew, with nothing remembered, and a move keeps all: a connection moves with its codec. Those here
/// allocate nothing for a message (chunked: only for one in several frames).
template <class C>
concept codec = requires(C& c, bytes input) {
  { c.parse(input) } -> std::same_as<frame>;
};

/// A codec that has memory of its own for messages, so many bytes of it now. A copy by without_messages() finds the
/// same frames and keeps nothing: a message that is not whole in one frame has no bytes then.
template <class C>
concept keeps_messages = codec<C> && requires(const C& c) {
  { c.kept_bytes() } noexcept -> std::same_as<std::size_t>;
  { c.without_messages() } -> std::same_as<C>;
};

/// Of a codec: whether it keeps the beginning of a message that it has taken from the input.
template <codec C>
[[nodiscard]] bool within_message(const C& c) {
  if constexpr (requires { c.within_message(); })
    return c.within_message();
  else
    return false;
}

/// One whose messages may hold every byte, so that another codec can put bytes of its own into them.
template <class C>
concept transparent_codec = codec<C> && requires(const C& c, std::size_t n) {
  { c.widened(n) } -> codec;  // the same, for messages that are n bytes longer
};

}  // namespace quintet
