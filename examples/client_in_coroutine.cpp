// SPDX-License-Identifier: BSL-1.0
// client_in_coroutine: a gateway whose handler awaits an Asio client on the connection's own loop, with a time limit.
#include "common/options.hpp"

#include <quintet/net/asio.hpp>
#include <quintet/net/stream.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <chrono>
#include <cstddef>
#include <string>

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

/// An ordinary Asio client, independent of Quintet: sends a line and returns the answer line.
class line_client {
 public:
  explicit line_client(const asio::any_io_executor& on) : socket_(on) {}

  asio::awaitable<std::string> ask(const example::endpoint& server, std::string line) {
    if (!socket_.is_open()) {
      tcp::resolver resolver(socket_.get_executor());
      co_await asio::async_connect(
          socket_, co_await resolver.async_resolve(server.host, server.port, asio::use_awaitable), asio::use_awaitable);
    }
    co_await asio::async_write(socket_, asio::buffer(line), asio::use_awaitable);
    const auto size =
        co_await asio::async_read_until(socket_, asio::dynamic_buffer(received_, longest), '\n', asio::use_awaitable);
    std::string reply = received_.substr(0, size);
    received_.erase(0, size);
    co_return reply;
  }
  void reset() {
    socket_ = tcp::socket(socket_.get_executor());
    received_.clear();
  }

  static constexpr std::size_t longest = 64 * 1024;  ///< bytes of a line, in either direction

 private:
  tcp::socket socket_;
  std::string received_;
};

struct gateway {
  example::endpoint upstream{"127.0.0.1", "7009"};
  std::size_t limit_ms = 200;

  // Each connection has a client of its own, which lives in this coroutine. The gateway reads no further line from a
  // peer that does not read its answers, so unread output is bounded. send_timeout bounds the wait.
  quintet::awaitable<> operator()(quintet::stream& s) const {
    line_client client(s.get_executor());
    while (auto line = co_await s.read_until("\n")) {
      s.write(co_await forward(s, client, std::string(*line)));
      if (!co_await s.until_writable()) co_return;
    }
  }

 private:
  // The loop serves its other connections while this coroutine waits. The operator || waits for a success, so an error
  // of the server must be a value: as an exception, it would wait for the time limit.
  quintet::awaitable<std::string> forward(quintet::stream& s, line_client& client, std::string line) const {
    using namespace asio::experimental::awaitable_operators;
    asio::steady_timer timer(s.get_executor(), std::chrono::milliseconds(limit_ms));
    auto first = co_await (answer_or_error(client, std::move(line)) || timer.async_wait(asio::use_awaitable));
    if (first.index() == 0) co_return std::get<0>(std::move(first));
    client.reset();  // a late answer would be taken for the answer to the next line
    co_return "error: no answer within " + std::to_string(limit_ms) + " ms\n";
  }

  asio::awaitable<std::string> answer_or_error(line_client& client, std::string line) const {
    try {
      co_return co_await client.ask(upstream, std::move(line));
    } catch (const boost::system::system_error& e) {
      client.reset();
      co_return "error: " + upstream.host + ":" + upstream.port + ": " + e.code().message() + "\n";
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  auto config = quintet::config::public_defaults({"127.0.0.1:7011"});
  config.limits.max_input = line_client::longest;
  config.accepting.max_connections = 1000;  // each has a connection to the upstream
  gateway handler;
  example::command_line("client_in_coroutine", "Forwards lines to another server, with a time limit for its answer.")
      .server(config)
      .address("--upstream", handler.upstream, "the server that answers")
      .number("--limit-ms", handler.limit_ms, 1, 60'000, "time to wait for an answer, in milliseconds")
      .try_it(
          "  slow_query --model reactor_pool &\n  client_in_coroutine &\n  nc 127.0.0.1 7011    # ping, sleep 100, "
          "sleep 300")
      .parse(argc, argv);
  try {
    quintet::server server(config, handler);
    example::serve("client_in_coroutine", config, server);
  } catch (...) {
    return example::report_exception("client_in_coroutine");
  }
}
