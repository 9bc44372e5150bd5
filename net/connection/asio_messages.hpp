// SPDX-License-Identifier: BSL-1.0
// asio_messages: messages of a codec from any stream of Asio.
#pragma once

#include "../../base/framing/frame.hpp"
#include "../../base/memory/byte_buffer.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/compose.hpp>
#include <boost/asio/error.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace quintet {

/// Reads messages as stream::read_message() does, from an asio_stream or any other AsyncReadStream. It keeps input that
/// follows a message: use one for all messages of a stream. Not synchronised.
///
///     quintet::message_reader in(quintet::delimiter("\n"));
///     for (;;) answer(co_await in.async_read(s, boost::asio::use_awaitable));
template <codec Codec>
class message_reader {
 public:
  explicit message_reader(Codec wire) : wire_(std::move(wire)) {}

  /// Completes with void(error_code, bytes): the next message, valid until the next read; the codec's error;
  /// errc::incomplete_message if the stream ends within a message; or the error of the stream, such as
  /// boost::asio::error::eof. After an operation_aborted no input is lost; after other errors it must not be used. One
  /// read may be in progress. Counts as message_done() of an asio_stream. Memory for a long message grows as it comes.
  template <class Stream, class Token>
  auto async_read(Stream& from, Token&& token) {
    return boost::asio::async_compose<Token, void(error_code, bytes)>(reading<Stream>{*this, from}, token, from);
  }

 private:
  static constexpr std::size_t least_read = 4096;  // bytes that a read may bring

  template <class Stream>
  struct reading {
    message_reader& to;
    Stream& from;
    frame found = {};
    bool has_begun = false;

    template <class Self>
    void operator()(Self& self, const error_code& why = {}, std::size_t count = 0) {
      if (found.is == frame::state::incomplete) {
        if (!has_begun) self.reset_cancellation_state(boost::asio::enable_total_cancellation());
        to.buffer_.commit(count);
        found = why ? frame::failed(to.error_at(why)) : to.next(!has_begun);
        if (found.is == frame::state::incomplete) {
          if (self.cancelled() == boost::asio::cancellation_type::none) return read_on(self, to.room_for(found.size));
          found = frame::failed(boost::asio::error::operation_aborted);
        }
        if (!std::exchange(has_begun, true)) return read_on(self, {});  // completes behind the caller
      }
      if constexpr (requires { from.message_done(); })
        if (!found.error) from.message_done();
      self.complete(found.error, found.message);
    }
    template <class Self>
    void read_on(Self& self, boost::asio::mutable_buffer into) {
      has_begun = true;
      from.async_read_some(into, std::move(self));
    }
  };

  frame next(bool begins) {
    if (begins) buffer_.consume(std::exchange(lent_, 0));
    for (;;) {
      const frame f = wire_.parse(buffer_.data());
      if (f.is == frame::state::complete) lent_ = f.size;
      if (f.is != frame::state::consumed) return f;
      buffer_.consume(f.size);
    }
  }
  error_code error_at(const error_code& end) const {
    const bool is_within = !buffer_.empty() || within_message(wire_);
    return end == boost::asio::error::eof && is_within ? error_code(errc::incomplete_message) : end;
  }
  boost::asio::mutable_buffer room_for(std::size_t message) {
    buffer_.reserve_announced(least_read, std::max(message, buffer_.size() + least_read));
    return {buffer_.space().data(), buffer_.space().size()};
  }

  Codec wire_;
  byte_buffer buffer_;
  std::size_t lent_ = 0;  // bytes of the last message, which the caller may still read
};

}  // namespace quintet
