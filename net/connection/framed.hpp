// SPDX-License-Identifier: BSL-1.0
// framed: callback handlers for messages instead of bytes, and messages written as frames.
#pragma once

#include "../../base/framing/chunked.hpp"
#include "../../base/framing/delimiter.hpp"
#include "../../base/framing/envelope.hpp"
#include "../../base/framing/fixed_length.hpp"
#include "../../base/framing/frame.hpp"
#include "../../base/framing/length_prefix.hpp"
#include "../../base/framing/message_buffer.hpp"
#include "connection.hpp"
#include "urgent_frames.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace quintet {

/// (connection&, bytes) for each message. It returns nothing, because it uses the whole message.
template <class H>
concept framed_handler =
    std::invocable<H&, connection&, bytes> && std::is_void_v<std::invoke_result_t<H&, connection&, bytes>>;

/// `framed(length_prefix<4>(), handler)`: a handler for a server or a client; each connection gets a copy with the
/// codec. It calls the given handler for each message, all that have arrived in one batch. The bytes are valid until
/// the call returns. Optional functions (net/handler.hpp) are called as if they were the server's own. After close() no
/// message comes. While output is above `high_watermark`, the next message waits (connection::must_yield()).
///
/// With `static bool is_urgent(bytes)` and `static void on_urgent(urgent_reply&, bytes)` the handler answers some
/// messages ahead of others. The loop calls them on arrival, even while the handler runs in a pool or its batch waits
/// for one. The handler itself does not get these messages. No message is urgent while output is above
/// `high_watermark`, after shutdown_send() or close(), or within a message in several frames.
///
/// A message that the codec refuses closes the connection after queued output; on_close gets the codec's error. If the
/// peer finishes within a message, on_close gets errc::incomplete_message instead of errc::end_of_stream.
template <codec Codec, framed_handler Handler>
  requires std::copyable<Codec>
class framed {
  static_assert(
      has_urgent_messages<Handler> || !(requires(Handler& h, bytes m) { h.is_urgent(m); }),
      "is_urgent(bytes) and on_urgent(urgent_reply&, bytes) are static, and is_urgent returns bool: the handler "
      "may be at work on another thread when they are called");

 public:
  /// Each connection gets a copy of both.
  framed(Codec wire, Handler handler) : filter_(wire), wire_(std::move(wire)), handler_(std::move(handler)) {}

  std::size_t operator()(connection& c, bytes in) { return for_each_message(c, in, handler_); }
  std::size_t on_overload(connection& c, bytes in)
    requires requires(Handler& h) { h.on_overload(c, in); }
  {
    return for_each_message(c, in, [this](connection& on, bytes message) { handler_.on_overload(on, message); });
  }

  /// Called by the connection on the loop, wherever the baton is: answers urgent messages and returns the rest.
  bytes filter_urgent(bytes arrived, bool at_end, detail::urgent_result& found)
    requires has_urgent_messages<Handler>
  {
    return filter_.template filter_urgent<Handler>(arrived, at_end, found);
  }

  /// Gets the bytes as received, without urgent messages.
  connection_class classify(bytes first)
    requires requires(Handler& h) { h.classify(first); }
  {
    return handler_.classify(first);
  }

  void on_open(connection& c)
    requires requires(Handler& h) { h.on_open(c); }
  {
    handler_.on_open(c);
  }
  void on_writable(connection& c)
    requires requires(Handler& h) { h.on_writable(c); }
  {
    handler_.on_writable(c);
  }
  void on_read_eof(connection& c)
    requires requires(Handler& h) { h.on_read_eof(c); }
  {
    handler_.on_read_eof(c);
  }
  void on_drain(connection& c)
    requires requires(Handler& h) { h.on_drain(c); }
  {
    handler_.on_drain(c);
  }
  void on_limit(connection& c, error_code why)
    requires requires(Handler& h) { h.on_limit(c, why); }
  {
    handler_.on_limit(c, why);
  }
  void on_close(connection& c, error_code why) {
    if (std::exchange(unfinished_, false) && why == errc::end_of_stream) why = errc::incomplete_message;
    wire_ = Codec(wire_);  // a client may reuse its handler for the next connection
    filter_ = filter_type(wire_);
    if constexpr (requires { handler_.on_close(c, why); }) handler_.on_close(c, why);
  }

 private:
  template <class F>
  std::size_t for_each_message(connection& c, bytes in, F&& call) {
    std::size_t used = 0;
    bool any = false;  // a message has ended in this batch
    while (!c.closing()) {
      const frame found = wire_.parse(in.substr(used));
      if (found.is == frame::state::incomplete) {
        if (within_message(wire_)) c.mark_incomplete(any);
        return require_rest(c, in.size() - used, found.size), used;
      }
      used += found.size;
      any = any || found.is == frame::state::complete;
      if (found.is == frame::state::complete) {
        call(c, found.message);
        if (used < in.size() && c.must_yield()) return leave_rest(c, used);
      } else {
        if (found.error == errc::bad_checksum) c.count_checksum_error();
        if (found.is == frame::state::failed) c.close(found.error);
      }
    }
    return in.size();
  }

  void require_rest(connection& c, std::size_t left, std::size_t size) {
    unfinished_ = left > 0 || within_message(wire_);
    if constexpr (keeps_messages<Codec>) c.count_kept_input(wire_.kept_bytes());
    if (size > c.limits().max_input) c.close(errc::message_too_big);
    if (left > 0) c.require_input(size);
  }
  // The rest of the batch comes again. Its first message has not begun for the handler.
  std::size_t leave_rest(connection& c, std::size_t used) {
    unfinished_ = false;
    if constexpr (keeps_messages<Codec>) c.count_kept_input(wire_.kept_bytes());
    return used;
  }

  using filter_type =
      std::conditional_t<has_urgent_messages<Handler>, detail::urgent_filter<Codec>, detail::no_urgent_filter>;

  [[no_unique_address]] filter_type filter_;  // the loop's; all other members are the baton's
  Codec wire_;
  Handler handler_;
  bool unfinished_ = false;  // a message has begun
};

/// A connection, or the reply to an urgent message.
template <class O>
concept message_output = std::derived_from<O, connection> || std::same_as<O, urgent_reply>;

namespace detail {

template <std::derived_from<connection> Output>
error_code write_frame(Output& c, std::span<const bytes> pieces) {
  return c.write(pieces) ? error_code() : c.write_error();
}
inline error_code write_frame(urgent_reply& reply, std::span<const bytes> pieces) {
  reply.write(pieces);  // takes everything
  return {};
}

}  // namespace detail

/// [baton] Writes a message, all of it or none, with one copy into the output. Returns the codec's error
/// (errc::message_too_big, ...) or connection::write_error() if write() rejects it. Throws std::bad_alloc.
template <message_output Output, wrapping_codec Codec>
[[nodiscard]] error_code write_message(Output& c, const Codec& wire, bytes message) {
  envelope e(message);
  if (const error_code ec = wire.wrap(e)) return ec;
  return detail::write_frame(c, e.pieces());
}

/// Overload for messages in several frames, which allocates.
template <message_output Output, class Inner>
[[nodiscard]] error_code write_message(Output& c, const chunked<Inner>& wire, bytes message) {
  if (message.size() <= wire.max_chunk()) {
    envelope e(message);
    if (const error_code ec = wire.wrap(e)) return ec;
    return detail::write_frame(c, e.pieces());
  }
  std::vector<envelope> frames;
  if (const error_code ec = wire.wrap_all(message, [&frames](const envelope& e) { frames.push_back(e); })) return ec;
  std::vector<bytes> pieces;
  for (const envelope& e : frames)
    for (const bytes& piece : e.pieces()) pieces.push_back(piece);
  return detail::write_frame(c, pieces);
}

}  // namespace quintet
