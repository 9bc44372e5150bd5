// SPDX-License-Identifier: BSL-1.0
// service: a connection's coroutines: the upgrade from HTTP, then the echo or the chat.
#include "websocket/service.hpp"

#include "common/bad_request.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/none.hpp>

#include <string_view>
#include <utility>

namespace example::websocket {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::use_awaitable;
using socket_type = guest::socket_type;

// A client's mistake must not throw: the server logs and counts exceptions. Beast has answered it.
constexpr auto as_result = asio::as_tuple(use_awaitable);

asio::awaitable<void> refuse(quintet::asio_stream& s, http::status why) {
  http::response<http::empty_body> refusal(why, 11);
  refusal.keep_alive(false);
  if (why == http::status::upgrade_required) {
    refusal.set(http::field::upgrade, "websocket");
    refusal.set(http::field::connection, "upgrade, close");
  }
  refusal.prepare_payload();
  co_await http::async_write(s, refusal, as_result);
}

// At a drain reads end and writes go on. Beast writes nothing after a read that has failed, so this sends the bytes of
// a close frame, 1001 (going away), itself.
asio::awaitable<void> tell_of_drain(socket_type& ws) {
  static constexpr std::string_view going_away = "\x88\x02\x03\xe9";
  co_await asio::async_write(ws.next_layer(), asio::buffer(going_away), as_result);
}

// A client that sends only pongs has sent nothing incomplete, so `message_timeout` must not close it. A pong between
// fragments completes nothing.
void note_control_frames(socket_type& ws) {
  ws.control_callback([&ws](beast::websocket::frame_type, beast::string_view) {
    if (ws.is_message_done()) ws.next_layer().message_done();
  });
}

asio::awaitable<void> echo(socket_type ws) {
  note_control_frames(ws);
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
  note_control_frames(self->socket());
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
  http::request_parser<http::empty_body> parser;
  parser.body_limit(boost::none);  // nobody reads the body of a POST
  const auto [why, size] = co_await http::async_read_header(s, buffer, parser, as_result);
  if (is_bad_request(why)) co_await refuse(s, http::status::bad_request);
  if (why) co_return;
  const auto& request = parser.get();
  const bool is_upgrade = beast::websocket::is_upgrade(request);
  if (!is_upgrade || buffer.size() > 0) {  // a client sends frames only after the answer (RFC 6455, 4.1)
    co_await refuse(s, is_upgrade ? http::status::bad_request : http::status::upgrade_required);
    co_return;
  }
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
