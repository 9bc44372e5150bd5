// SPDX-License-Identifier: BSL-1.0
// asio_shared: an echo server on plain Boost.Asio, without Quintet: several threads run one io_context.
//
// Any free thread takes the next event, so no connection waits for a busy thread. In exchange, every operation of every
// thread takes the lock of the one queue, and a connection's data moves between CPUs. `quintet-bench contention`
// measures that. The server has no limits of time or memory, so it listens on 127.0.0.1 only.
#include "common/asio_echo.hpp"
#include "common/options.hpp"

#include <boost/asio/signal_set.hpp>

#include <csignal>
#include <cstddef>
#include <thread>
#include <vector>

namespace asio = boost::asio;

int main(int argc, char** argv) {
  std::size_t port = 7043, threads = 2;
  example::command_line("asio_shared", "Sends back what it receives, by plain Boost.Asio: threads share an io_context.")
      .number("--port", port, 0, 65535, "port of 127.0.0.1 to listen on; 0: the system picks one")
      .number("--threads", threads, 1, 1024, "threads that run the io_context")
      .try_it("  asio_shared --threads 4 &\n  echo_client --server 127.0.0.1:7043 --connections 10 --duration-s 3")
      .parse(argc, argv);
  try {
    asio::io_context context(static_cast<int>(threads));
    example::asio_listener listener(context, port, [&context]() -> asio::io_context& { return context; });
    asio::signal_set signals(context, SIGINT, SIGTERM);
    signals.async_wait([&context](const boost::system::error_code&, int) { context.stop(); });
    listener.announce("asio_shared");
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < threads; ++i) others.push_back(example::run_on_thread(context));
    context.run();
  } catch (...) {
    return example::report_exception("asio_shared");
  }
}
