// SPDX-License-Identifier: BSL-1.0
// asio_beast: what Beast asks of a stream beneath a WebSocket or an HTTP server.
#pragma once

#include "asio_stream.hpp"

#include <boost/asio/compose.hpp>
#include <boost/asio/error.hpp>
#include <boost/beast/core/role.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <utility>

namespace quintet {
namespace detail {

/// Half-closes, and reads until the peer has finished.
struct asio_teardown {
  static constexpr std::size_t at_once = 512;
  asio_stream& stream;
  std::unique_ptr<std::array<char, at_once>> data{};
  template <class Self>
  void operator()(Self& self, error_code why = {}, std::size_t = 0) {
    if (why) return self.complete(why == boost::asio::error::eof ? error_code() : why);
    if (!data) {
      data = std::make_unique<std::array<char, at_once>>();
      stream.shutdown_send();
    }
    const auto buffer = boost::asio::buffer(*data);
    stream.async_read_some(buffer, std::move(self));
  }
};

}  // namespace detail

/// [loop] Beast calls them at the end of a WebSocket.
template <class Handler>
void async_teardown(boost::beast::role_type, asio_stream& stream, Handler&& handler) {
  boost::asio::async_compose<Handler, void(error_code)>(detail::asio_teardown{stream}, handler, stream);
}
inline void beast_close_socket(asio_stream& stream) { stream.close(); }

}  // namespace quintet
