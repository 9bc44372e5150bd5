// SPDX-License-Identifier: BSL-1.0
// asio_separate: an echo server on plain Boost.Asio, without Quintet: each thread runs an io_context of its own.
//
// The main thread accepts, and the io_contexts get connections round robin. A connection stays on one thread, so
// threads share nothing. In exchange, a busy thread delays its connections while others are idle. Quintet's
// loop_per_thread is the same design. The server has no limits of time or memory, so it listens on 127.0.0.1 only.
#include "common/asio_echo.hpp"
#include "common/options.hpp"

#include <boost/asio/signal_set.hpp>

#include <csignal>
#include <cstddef>
#include <deque>
#include <thread>
#include <vector>

namespace asio = boost::asio;

int main(int argc, char** argv) {
  std::size_t port = 7044, threads = 2;
  example::command_line("asio_separate", "Sends back what it receives, by plain Boost.Asio: an io_context per thread.")
      .number("--port", port, 0, 65535, "port of 127.0.0.1 to listen on; 0: the system picks one")
      .number("--threads", threads, 1, 1024, "io_contexts, each with a thread, beside the thread that accepts")
      .try_it("  asio_separate --threads 4 &\n  echo_client --server 127.0.0.1:7044 --connections 10 --duration-s 3")
      .parse(argc, argv);
  try {
    std::deque<asio::io_context> contexts;
    for (std::size_t i = 0; i < threads; ++i) contexts.emplace_back(1);  // 1: one thread runs it
    // Destroyed before the others, because a pending accept has a socket of one of them.
    asio::io_context accepting(1);
    example::asio_listener listener(accepting, port, [&contexts, turn = std::size_t{0}]() mutable -> asio::io_context& {
      return contexts[turn++ % contexts.size()];
    });
    asio::signal_set signals(accepting, SIGINT, SIGTERM);
    signals.async_wait([&accepting](const boost::system::error_code&, int) { accepting.stop(); });
    listener.announce("asio_separate");
    std::vector<std::jthread> all;
    for (asio::io_context& context : contexts) all.push_back(example::run_on_thread(context));
    accepting.run();
  } catch (...) {
    return example::report_exception("asio_separate");
  }
}
