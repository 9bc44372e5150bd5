// SPDX-License-Identifier: BSL-1.0
// asio_service: reads and writes as a program of Asio does; expensive requests go where the model says.
#include "asio_service.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <stdexcept>
#include <string>
#include <utility>

namespace quintet::test {
namespace {

namespace asio = boost::asio;
using asio::use_awaitable;

/// Closes the session however the coroutine ends.
struct at_end {
  session& what;
  asio_stream& on;
  ~at_end() {
    if (on.peer_address().empty()) what.seen().fault("a coroutine of Asio ends without the peer's address");
    what.close({}, on.loop().in_this_thread());
  }
};

asio::awaitable<answer> reply(asio_stream& s, session& session, bytes request) {
  if (!session::is_expensive(request)) co_return session.reply_to(request, s.loop().in_this_thread());
  answer a;
  try {
    event_loop& loop = s.loop();
    const auto work = [&] { return session.reply_to(request, loop.in_this_thread()); };
    a = co_await s.async_offload(work, use_awaitable);
  } catch (const std::invalid_argument& e) {
    a.text = std::string("caught ") + e.what() + '\n';
  }
  co_return a;
}

asio::awaitable<void> serve(asio_stream s, service_context& context) {
  session session(context);
  const at_end guard{session, s};
  const answer greeting = session.open(s.loop().in_this_thread());
  co_await asio::async_write(s, asio::buffer(greeting.text), use_awaitable);
  if (greeting.close) co_return;

  std::array<char, 8192> data;
  std::string pending;
  for (;;) {
    const auto [why, count] = co_await s.async_read_some(asio::buffer(data), asio::as_tuple(use_awaitable));
    if (why) break;
    session.note_callback(s.loop().in_this_thread());
    pending.append(data.data(), count);
    std::size_t used = 0;
    while (const std::size_t size = session.complete(bytes(pending).substr(used))) {
      const answer a = co_await reply(s, session, bytes(pending).substr(used, size));
      session.note_callback(s.loop().in_this_thread());
      used += size;
      co_await asio::async_write(s, asio::buffer(a.text), use_awaitable);
      if (a.close) co_return;
    }
    pending.erase(0, used);
    if (pending.size() > context.options.max_request) co_return;
  }
  if (context.options.throw_at_close) throw std::runtime_error("close");
}

}  // namespace

boost::asio::awaitable<void> asio_service::operator()(asio_stream s) const { return serve(std::move(s), *context_); }

}  // namespace quintet::test
