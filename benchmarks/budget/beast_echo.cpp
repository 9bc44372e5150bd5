// SPDX-License-Identifier: BSL-1.0
// beast_echo: an echo of WebSocket messages by Beast: on asio_stream, and on Asio's own sockets.
#include "budget.hpp"
#include "plain_server.hpp"

#include <quintet/net/asio_beast.hpp>
#include <quintet/net/asio_stream.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket.hpp>

#include <string>
#include <utility>

namespace quintet::budget {
namespace {

template <class Stream>
boost::asio::awaitable<void> echo_messages(Stream s) {
  boost::beast::websocket::stream<Stream> ws(std::move(s));
  co_await ws.async_accept(boost::asio::use_awaitable);
  boost::beast::flat_buffer message;
  for (;;) {
    co_await ws.async_read(message, boost::asio::use_awaitable);
    ws.text(ws.got_text());
    co_await ws.async_write(message.data(), boost::asio::use_awaitable);
    message.clear();
  }
}

void start_messages(boost::asio::io_context& in, plain_server::tcp::socket s) {
  boost::asio::co_spawn(in, echo_messages(std::move(s)), boost::asio::detached);
}

}  // namespace

int serve_beast_echo(const std::string& flavour, const config& with, const std::string& requests,
                     const std::string& connections) {
  const char* const client = "websocket_client";
  if (flavour.starts_with("plain_")) return serve(plain_server(&start_messages), requests, connections, client);
  return serve(server(with, &echo_messages<asio_stream>), requests, connections, client);
}

}  // namespace quintet::budget
