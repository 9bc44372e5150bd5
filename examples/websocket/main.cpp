// SPDX-License-Identifier: BSL-1.0
// websocket: Beast's WebSockets on accepted connections. At /echo each message comes back, at /chat it goes to all.
#include "common/options.hpp"
#include "websocket/room.hpp"

#include <quintet/net/asio_beast.hpp>
#include <quintet/net/asio_stream.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>

#include <memory>
#include <string_view>
#include <utility>

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = beast::websocket;
using asio::use_awaitable;
using example::websocket::guest;
using example::websocket::room;
using socket_type = websocket::stream<quintet::asio_stream>;

// A client's mistake is no exception of the handler, which the server would log and count. Beast has answered it.
constexpr auto as_result = asio::as_tuple(use_awaitable);

// At a drain reads end and writes go on. Beast writes no more after a read that has failed: so these are the bytes of a
// close frame, 1001 (going away).
asio::awaitable<void> tell_of_drain(socket_type& ws) {
  static constexpr std::string_view going_away = "\x88\x02\x03\xe9";
  co_await asio::async_write(ws.next_layer(), asio::buffer(going_away), as_result);
}

asio::awaitable<void> echo(socket_type ws) {
  beast::flat_buffer message;
  for (;;) {
    const auto [why, size] = co_await ws.async_read(message, as_result);
    if (why == quintet::errc::stopped) co_await tell_of_drain(ws);
    if (why) co_return;
    ws.text(ws.got_text());
    co_await ws.async_write(message.data(), use_awaitable);
    message.clear();
  }
}

asio::awaitable<void> chat(socket_type ws, room& with) {
  const auto self = std::make_shared<guest>(std::move(ws));
  const room::place taken(with, self);
  beast::flat_buffer message;
  for (;;) {
    const auto [why, size] = co_await self->socket().async_read(message, as_result);
    if (why == quintet::errc::stopped && !self->is_writing()) co_await tell_of_drain(self->socket());
    if (why) co_return;
    with.send(beast::buffers_to_string(message.data()));
    message.clear();
  }
}

struct service {
  room* chatting;
  asio::awaitable<void> operator()(quintet::asio_stream s) const {
    beast::flat_buffer buffer;
    beast::http::request<beast::http::empty_body> request;
    const auto [why, size] = co_await beast::http::async_read(s, buffer, request, as_result);
    if (why || !websocket::is_upgrade(request)) co_return;
    socket_type ws(std::move(s));
    ws.read_message_max(1024 * 1024);
    const auto [refused] = co_await ws.async_accept(request, as_result);
    if (refused) co_return;
    if (request.target() == "/chat")
      co_await chat(std::move(ws), *chatting);
    else
      co_await echo(std::move(ws));
  }
};

}  // namespace

int main(int argc, char** argv) {
  auto config = quintet::config::public_defaults({"127.0.0.1:7018"});
  example::command_line("websocket", "WebSockets by Boost.Beast: /echo sends each message back, /chat to all guests.")
      .server(config)
      .try_it("  websocket &\n  python3 -m websockets ws://127.0.0.1:7018/chat      # in two terminals")
      .parse(argc, argv);
  try {
    room chatting;
    quintet::server server(config, service{&chatting});
    example::serve("websocket", config, server);
  } catch (...) {
    return example::report_exception("websocket");
  }
}
