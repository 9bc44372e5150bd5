// SPDX-License-Identifier: BSL-1.0
// asio_echo.cpp: echo servers on plain Boost.Asio on one thread, in the style of its examples: with callbacks, and with
// C++20 coroutines.
#include "listen.hpp"
#include "peers/asio_session.hpp"
#include "peers/makers.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <unistd.h>

#include <exception>

namespace quintet::bench {
namespace {

namespace asio = boost::asio;
using asio::use_awaitable;
using asio::ip::tcp;

class asio_echo final : public listening_peer {
 public:
  /// `accept` begins to accept.
  asio_echo(const peer_options& o, void (*accept)(tcp::acceptor&))
      : listening_peer(o),
        accept_(accept),
        acceptor_(context_, tcp::v4(), ::dup(listening().get())),
        stop_(context_, ::dup(stop_fd())) {}

  void run() override {
    stop_.async_wait(asio::posix::descriptor_base::wait_read, [this](auto) { context_.stop(); });
    accept_(acceptor_);
    context_.run();
  }

 private:
  void (*accept_)(tcp::acceptor&);
  asio::io_context context_;
  tcp::acceptor acceptor_;
  asio::posix::stream_descriptor stop_;
};

asio::awaitable<void> echo(tcp::socket socket) {
  const auto data = std::make_unique_for_overwrite<char[]>(peer_buffer_bytes);
  try {
    socket.set_option(tcp::no_delay(true));
    for (;;) {
      const std::size_t got =
          co_await socket.async_read_some(asio::buffer(data.get(), peer_buffer_bytes), use_awaitable);
      co_await asio::async_write(socket, asio::buffer(data.get(), got), use_awaitable);
    }
  } catch (const std::exception&) {  // end of stream, or a lost connection
  }
}

asio::awaitable<void> accept_by_coroutine(tcp::acceptor& acceptor) {
  for (;;) {
    try {
      tcp::socket socket = co_await acceptor.async_accept(use_awaitable);
      asio::co_spawn(acceptor.get_executor(), echo(std::move(socket)), asio::detached);
    } catch (const boost::system::system_error&) {  // this accept failed; the next may succeed
    }
  }
}

void start_coroutine(tcp::acceptor& acceptor) {
  asio::co_spawn(acceptor.get_executor(), accept_by_coroutine(acceptor), asio::detached);
}

}  // namespace

std::unique_ptr<peer_server> make_asio_echo(const peer_options& o) {
  return std::make_unique<asio_echo>(o, &accept_sessions);
}

std::unique_ptr<peer_server> make_asio_coroutine_echo(const peer_options& o) {
  return std::make_unique<asio_echo>(o, &start_coroutine);
}

}  // namespace quintet::bench
