// SPDX-License-Identifier: BSL-1.0
// chunked: a codec for messages longer than its frames; each frame says whether another follows.
#pragma once

#include "envelope.hpp"
#include "frame.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

namespace quintet {

/// Enabled directions. Without `send` or `receive`, a message longer than one frame is errc::message_too_big there.
struct chunking {
  bool send = false;                           ///< divides long messages into frames
  bool receive = false;                        ///< assembles them
  std::size_t max_message = 16 * 1024 * 1024;  ///< bytes, in several frames; more: errc::message_too_big
};

/// `chunked(length_prefix<2>(), {.receive = true})`: each frame of the inner codec begins with a byte. It is 1 if the
/// message continues in the next frame, else 0. The inner codec's limit still applies to the message bytes of one
/// frame. A message in one frame is not copied. A longer one is assembled in memory that grows with it and is reused up
/// to `largest_kept`.
template <transparent_codec Codec>
  requires requires(const Codec& c) { c.max_size(); }
class chunked {
 public:
  static constexpr std::size_t largest_kept = 64 * 1024;  ///< bytes of memory that a codec keeps between messages

  /// Throws config_error if a frame of `inner` has no room for a message.
  chunked(const Codec& inner, chunking options) : inner_(inner.widened(1)), options_(options) {
    if (inner_.max_size() < 2)
      throw config_error("chunked: a frame of the inner codec has no room for message bytes; it must hold at least 1");
  }

  /// Return the largest message of one frame, and the largest that can be sent.
  [[nodiscard]] std::size_t max_chunk() const noexcept { return inner_.max_size() - 1; }
  [[nodiscard]] std::size_t max_size() const noexcept {
    return options_.send ? std::max(options_.max_message, max_chunk()) : max_chunk();
  }
  [[nodiscard]] bool within_message() const noexcept { return partial_.more; }
  [[nodiscard]] std::size_t kept_bytes() const noexcept { return partial_.message.capacity(); }
  [[nodiscard]] chunked without_messages() const {
    chunked copy(*this);
    copy.keeps_ = false;
    return copy;
  }

  [[nodiscard]] frame parse(bytes in) {
    if (!partial_.more) partial_.forget();
    const frame f = inner_.parse(in);
    if (f.is == frame::state::consumed && f.error) return frame::failed(f.error);  // a part of a message is missing
    if (f.is != frame::state::complete) return f;
    if (f.message.empty() || (f.message[0] & ~1) != 0) return frame::failed(errc::malformed_message);
    const bool more = f.message[0] == 1;
    const bytes part = f.message.substr(1);
    if (!more && !partial_.more) return frame::complete(part, f.size);
    return gather(part, more, f.size);
  }
  /// Wraps a message as one frame; write_message() makes as many as are needed.
  template <class Message>
  [[nodiscard]] error_code wrap(Message& m) const {
    return wrap(m, false);
  }
  /// Calls f(envelope&) for each frame of a message, in order.
  template <class F>
  [[nodiscard]] error_code wrap_all(bytes message, F f) const {
    if (message.size() > max_size()) return errc::message_too_big;
    do {
      const bytes part = message.substr(0, max_chunk());
      message.remove_prefix(part.size());
      envelope e(part);
      if (const error_code ec = wrap(e, !message.empty())) return ec;
      f(e);
    } while (!message.empty());
    return {};
  }

 private:
  template <class Message>
  error_code wrap(Message& m, bool more) const {
    m.prepend(bytes(more ? "\1" : "\0", 1));
    return inner_.wrap(m);
  }
  frame gather(bytes part, bool more, std::size_t size) {
    if (!options_.receive) return frame::failed(errc::message_too_big);
    if (more && part.empty()) return frame::failed(errc::malformed_message);  // empty frames could follow for ever
    if (part.size() > options_.max_message - std::min(options_.max_message, partial_.message.size()))
      return frame::failed(errc::message_too_big);
    if (keeps_) partial_.message += part;
    partial_.more = more;
    return more ? frame::consumed(size) : frame::complete(partial_.message, size);
  }

  /// The arrived part of a message in several frames. A copy is for another stream and starts empty. A move keeps the
  /// part: its connection migrates to another loop.
  struct beginning {
    beginning() noexcept = default;
    beginning(const beginning&) noexcept {}
    beginning(beginning&& other) noexcept : message(std::move(other.message)), more(std::exchange(other.more, false)) {}
    beginning& operator=(const beginning&) noexcept {
      more = false;
      forget();
      return *this;
    }
    beginning& operator=(beginning&& other) noexcept {
      message = std::move(other.message);
      more = std::exchange(other.more, false);
      return *this;
    }
    ~beginning() = default;
    void forget() noexcept {
      if (message.capacity() > largest_kept)
        std::string().swap(message);  // assigning an empty string would keep the memory
      else
        message.clear();
    }
    std::string message;
    bool more = false;  // the last frame announced another
  };

  decltype(std::declval<const Codec&>().widened(1)) inner_;
  chunking options_;
  beginning partial_;
  bool keeps_ = true;
};

}  // namespace quintet
