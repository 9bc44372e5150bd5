// SPDX-License-Identifier: BSL-1.0
// service: a connection's coroutines: the upgrade from HTTP, then the echo or the chat.
#include "websocket/service.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>

#include <string_view>
#include <utility>

namespace example::websocket {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::use_awaitable;
using socket_type = guest::socket_type;

// A client's mistake is no exception of the handler, which the server would log and count. Beast has answered it.
constexpr auto as_result = asio::as_tuple(use_awaitable);

// At a drain reads end and writes go on. Beast writes no more after a read that has failed: so these are the bytes of a
// close frame, 1001 (going away).
asio::awaitable<void> tell_of_drain(socket_type& ws) {
  static constexpr std::string_view going_away = "\x88\x02\x03\xe9";
  co_await asio::async_write(ws.next_layer(), asio::buffer(going_away), as_result);
}

// A client may send no more than pongs, or messages that nobody answers: `message_timeout` is for those that are not
// whole.
void count_control_frames(socket_type& ws) {
  ws.control_callback([&ws](beast::websocket::frame_type, beast::string_view) { ws.next_layer().message_done(); });
}

asio::awaitable<void> echo(socket_type ws) {
  count_control_frames(ws);
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
  count_control_frames(self->socket());
  beast::flat_buffer message;
  for (;;) {
    const auto [why, size] = co_await self->socket().async_read(message, as_result);
    if (why == quintet::errc::stopped && !self->is_writing()) co_await tell_of_drain(self->socket());
    if (why) co_return;
    self->socket().next_layer().message_done();
    with.send(beast::buffers_to_string(message.data()));
    message.clear();
  }
}

}  // namespace

asio::awaitable<void> service::operator()(quintet::asio_stream s) const {
  beast::flat_buffer buffer;
  beast::http::request<beast::http::empty_body> request;
  const auto [why, size] = co_await beast::http::async_read(s, buffer, request, as_result);
  if (why || !beast::websocket::is_upgrade(request)) co_return;
  socket_type ws(std::move(s));
  ws.read_message_max(1024 * 1024);
  const auto [refused] = co_await ws.async_accept(request, as_result);
  if (refused) co_return;
  if (request.target() == "/chat")
    co_await chat(std::move(ws), *chatting_);
  else
    co_await echo(std::move(ws));
}

}  // namespace example::websocket
