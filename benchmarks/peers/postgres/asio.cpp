// SPDX-License-Identifier: BSL-1.0
// asio.cpp: asio-postgres, a server on plain Boost.Asio on one thread, with C++20 coroutines in the style of its
// examples. Its argument is a port; a signal ends it.
#include "peers/postgres/protocol.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>

namespace {

namespace asio = boost::asio;
using asio::use_awaitable;
using asio::ip::tcp;

constexpr std::size_t buffer_bytes = 64 * 1024;

asio::awaitable<void> serve(tcp::socket socket) {
  const auto buffer = std::make_unique_for_overwrite<char[]>(buffer_bytes);
  quintet::bench::postgres_session session;
  std::string unserved, replies;
  try {
    socket.set_option(tcp::no_delay(true));
    while (!session.is_over()) {
      const std::size_t got = co_await socket.async_read_some(asio::buffer(buffer.get(), buffer_bytes), use_awaitable);
      std::string_view in(buffer.get(), got);
      if (!unserved.empty()) in = unserved += in;
      replies.clear();
      const std::size_t taken = session.serve(in, replies);
      if (taken < in.size() || !unserved.empty()) unserved = std::string(in.substr(taken));
      if (!replies.empty()) co_await asio::async_write(socket, asio::buffer(replies), use_awaitable);
    }
  } catch (const quintet::bench::protocol_error& e) {
    std::fprintf(stderr, "asio-postgres: %s\n", e.what());
  } catch (const boost::system::system_error&) {  // end of stream, or a lost connection
  }
}

asio::awaitable<void> accept(tcp::acceptor& acceptor) {
  for (;;) {
    tcp::socket socket = co_await acceptor.async_accept(use_awaitable);
    asio::co_spawn(acceptor.get_executor(), serve(std::move(socket)), asio::detached);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  std::uint16_t port = 0;
  if (argc != 2 || std::from_chars(argv[1], argv[1] + std::strlen(argv[1]), port).ec != std::errc()) {
    std::fputs("usage: asio-postgres PORT\n", stderr);
    return 2;
  }
  asio::io_context context(1);
  tcp::acceptor acceptor(context, tcp::endpoint(asio::ip::address_v4::loopback(), port));
  std::printf("listening on 127.0.0.1:%d\n", acceptor.local_endpoint().port());
  std::fflush(stdout);
  asio::co_spawn(context, accept(acceptor), asio::detached);
  context.run();
} catch (const std::exception& e) {
  std::fprintf(stderr, "asio-postgres: %s\n", e.what());
  return 1;
}
