// SPDX-License-Identifier: BSL-1.0
// frame: the result of a codec at the front of the input, and the requirements of a codec.
#pragma once

#include "../bytes.hpp"
#include "../error.hpp"

#include <concepts>
#include <cstddef>
#include <limits>

namespace quintet {

/// Default limit of a codec, in bytes.
inline constexpr std::size_t default_max_message = 64 * 1024;
/// Upper bound of every limit, so that sums of sizes do not overflow.
inline constexpr std::size_t largest_max_message = std::numeric_limits<std::size_t>::max() / 4;

/// One of four results; `is` names it.
struct frame {
  /// The result of parse().
  enum class state : unsigned char {
    incomplete,  ///< more input is needed
    complete,    ///< `message` is there
    consumed,    ///< the codec has used input and has no message: a part of one, padding, or a message that it drops
    failed,      ///< the input can never become a message; the stream is unusable
  };

  state is = state::incomplete;  ///< the result
  /// complete, consumed: number of input bytes used, at least 1. incomplete: the least input size at which parsing
  /// again can help; more than there is now.
  std::size_t size = 0;
  bytes message = {};     ///< complete: in the input or in the codec; valid until either changes
  error_code error = {};  ///< failed; consumed: why a message was dropped, if one was

  /// Make a frame of each state; dropped() makes a consumed one with an error.
  static frame incomplete(std::size_t needed) noexcept { return {.is = state::incomplete, .size = needed}; }
  static frame complete(bytes message, std::size_t size) noexcept {
    return {.is = state::complete, .size = size, .message = message};
  }
  static frame consumed(std::size_t size) noexcept { return {.is = state::consumed, .size = size}; }
  static frame dropped(std::size_t size, error_code why) noexcept {
    return {.is = state::consumed, .size = size, .error = why};
  }
  static frame failed(error_code why) noexcept { return {.is = state::failed, .error = why}; }
};

/// parse() gets all unused input, from its first byte. After `incomplete` it gets the same bytes with more behind them,
/// so it may remember its position. A codec serves one direction of one connection. A copy starts afresh; a move keeps
/// the state, because a connection migrates with its codec. The codecs here allocate nothing for a message (chunked:
/// only for one in several frames).
template <class C>
concept codec = requires(C& c, bytes input) {
  { c.parse(input) } -> std::same_as<frame>;
};

/// A codec with memory of its own for messages; kept_bytes() returns its size. A copy by without_messages() finds the
/// same frames and keeps nothing: a message in several frames is then empty.
template <class C>
concept keeps_messages = codec<C> && requires(const C& c) {
  { c.kept_bytes() } noexcept -> std::same_as<std::size_t>;
  { c.without_messages() } -> std::same_as<C>;
};

/// Returns whether the codec keeps the beginning of a message that it has taken from the input.
template <codec C>
[[nodiscard]] bool within_message(const C& c) {
  if constexpr (requires { c.within_message(); })
    return c.within_message();
  else
    return false;
}

/// A codec whose messages may hold any byte, so that another codec can add bytes of its own.
template <class C>
concept transparent_codec = codec<C> && requires(const C& c, std::size_t n) {
  { c.widened(n) } -> codec;  // the same, for messages that are n bytes longer
};

}  // namespace quintet
