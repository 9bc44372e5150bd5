// SPDX-License-Identifier: BSL-1.0
// urgent_frames: picks frames out of a stream that are answered ahead of everything else.
#pragma once

#include "../../base/framing/frame.hpp"

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace quintet {

class event_loop;

/// Reply to urgent frames. It is sent at once, ahead of the handler's current output.
class urgent_reply {
 public:
  explicit urgent_reply(std::string& text) noexcept : text_(text) {}
  /// [loop] In on_urgent(). Always returns true; the data counts as the connection's output afterwards.
  bool write(bytes data) {
    text_.append(data);
    return true;
  }
  bool write(std::span<const bytes> pieces) {
    for (const bytes& piece : pieces) write(piece);
    return true;
  }

 private:
  std::string& text_;
};

/// Optional functions of a message handler for urgent messages. They are static, because the handler may be running on
/// another thread. They must synchronise any other state they use.
template <class H>
concept has_urgent_messages = requires(bytes message, urgent_reply& reply) {
  { H::is_urgent(message) } -> std::same_as<bool>;
  H::on_urgent(reply, message);
};

namespace detail {

/// Result of filtering some bytes. One for each loop, reused.
struct urgent_result {
  explicit urgent_result(event_loop&) noexcept {}
  std::size_t room = 0;     ///< bytes of reply; once they are used, no further message is urgent
  bool holds_back = false;  ///< a frame has begun that may be urgent
  unsigned answered = 0;    ///< number of frames
  std::string reply;
  std::string rest;  ///< input left for the handler, if it is no part of the arrived bytes

  void begin(std::size_t room_for_reply) {
    room = room_for_reply;
    holds_back = false;
    answered = 0;
    for (std::string* text : {&reply, &rest})
      if (text->capacity() > most_kept)
        std::string().swap(*text);
      else
        text->clear();
  }
  static constexpr std::size_t most_kept = 64 * 1024;  // bytes; frees the memory of a big message
};

/// Filter of one connection. It sees all input on the loop before the handler does, with a codec of its own.
template <codec Codec>
class urgent_filter {
 public:
  explicit urgent_filter(const Codec& wire) : wire_(without_messages(wire)) {}

  /// Returns the input left for the handler: in `arrived` or in `found`. Holds back an incomplete frame while it may be
  /// urgent, but nothing at the end of the stream.
  template <class Handler>
  bytes filter_urgent(bytes arrived, bool at_end, urgent_result& found) {
    const bool together = !held_.empty();
    if (together) held_.append(arrived);
    const bytes in = together ? bytes(held_) : arrived;
    cursor w{.in = in, .at = std::min(skip_, in.size())};
    skip_ -= w.at;
    while (w.at < in.size() && step<Handler>(w, found)) {
    }
    if (at_end) w.at = in.size();
    return finish(w, together, found);
  }

 private:
  static Codec without_messages(const Codec& wire) {
    if constexpr (keeps_messages<Codec>)
      return wire.without_messages();
    else
      return wire;
  }
  static constexpr std::size_t most_held = 4096;  // bytes; a longer message of known length is not urgent
  struct cursor {
    bytes in;
    std::size_t at = 0;    // number of bytes examined
    std::size_t from = 0;  // start of the rest that is not in `found.rest` yet
  };

  /// By its length if the codec knows it: the result must not depend on how the frame was cut on arrival.
  static bool may_be_urgent(const frame& f) noexcept { return !transparent_codec<Codec> || f.size <= most_held; }

  // Returns false if there is no whole frame.
  template <class Handler>
  bool step(cursor& w, urgent_result& found) {
    const bytes in = w.in.substr(w.at);
    const bool whole = !within_message(wire_);
    const frame next = wire_.parse(in);
    if (next.is == frame::state::incomplete) {
      // The frame's length is known and too long: let that many bytes pass.
      if (may_be_urgent(next)) return false;
      skip_ = next.size - in.size();
      w.at = w.in.size();
    } else if (next.is == frame::state::failed) {
      skip_ = std::string::npos;  // the handler's codec will report the error
      w.at = w.in.size();
    } else {
      if (next.is == frame::state::complete && whole && found.reply.size() < found.room && may_be_urgent(next) &&
          Handler::is_urgent(next.message)) {
        found.rest.append(w.in.substr(w.from, w.at - w.from));
        w.from = w.at + next.size;
        ++found.answered;
        urgent_reply reply(found.reply);
        Handler::on_urgent(reply, next.message);
      }
      w.at += next.size;
    }
    return true;
  }

  bytes finish(const cursor& w, bool together, urgent_result& found) {
    bytes left = w.in.substr(w.from, w.at - w.from);
    if (together || !found.rest.empty()) left = found.rest.append(left);
    if (together)
      held_.erase(0, w.at);
    else
      held_.assign(w.in.substr(w.at));
    found.holds_back = !held_.empty();
    return left;
  }

  Codec wire_;
  std::string held_;
  std::size_t skip_ = 0;  // bytes to come of a frame that is not urgent
};

/// Replaces the filter where nothing is urgent.
struct no_urgent_filter {
  template <codec Codec>
  explicit no_urgent_filter(const Codec&) noexcept {}
};

}  // namespace detail
}  // namespace quintet
