// SPDX-License-Identifier: BSL-1.0
// asio-uring: an echo server on Boost.Asio over io_uring, on one thread. A program of its own, because all sources of a
// program must agree on Asio's back end. Its standard input is a listening socket; a signal ends it.
// `quintet-bench serve --peer asio-uring` starts it.
#include "peers/asio_session.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <csignal>
#include <cstdio>
#include <exception>

using boost::asio::ip::tcp;

int main() try {
  boost::asio::io_context context(1);
  tcp::acceptor acceptor(context, tcp::v4(), 0);
  boost::asio::signal_set signals(context, SIGINT, SIGTERM);
  signals.async_wait([&](boost::system::error_code, int) { context.stop(); });
  quintet::bench::accept_sessions(acceptor);
  context.run();
} catch (const std::exception& e) {
  std::fprintf(stderr, "asio-uring: %s\n", e.what());
  return 1;
}
