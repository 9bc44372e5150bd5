// SPDX-License-Identifier: BSL-1.0
// tutorial_ask: the client of the tutorial: sends requests and prints the replies. It blocks, and uses plain Asio.
#include "tutorial/wire.hpp"

#include "common/version.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/system_error.hpp>

#include <CLI/CLI.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <future>
#include <string>
#include <thread>
#include <vector>

namespace {

using milliseconds = std::chrono::milliseconds;
using clock_type = std::chrono::steady_clock;
namespace asio = boost::asio;

struct command {
  std::uint16_t port = 0;
  std::vector<std::string> requests;
  std::string beside;
  unsigned connections = 1, times = 1, first = 0, slowly_ms = 0;
  bool time = false;
};

class client {
 public:
  /// Waits up to ten seconds for a server that has just been started.
  explicit client(std::uint16_t port) {
    const asio::ip::tcp::endpoint server(asio::ip::address_v4::loopback(), port);
    boost::system::error_code failed;
    for (int tries = 0; tries < 500; ++tries) {
      socket_.connect(server, failed);
      if (failed != asio::error::connection_refused) break;
      socket_.close();
      std::this_thread::sleep_for(milliseconds(20));
    }
    if (failed) throw boost::system::system_error(failed, "connect");
  }
  void send(const std::string& request) {
    quintet::message_buffer message(request);
    if (const auto ec = tutorial::wire.wrap(message)) throw boost::system::system_error(ec, "send");
    asio::write(socket_, asio::buffer(message.data().data(), message.data().size()));
  }
  std::string receive() {
    while (true) {
      const quintet::frame found = tutorial::wire.parse(received_);
      if (found.is == quintet::frame::state::failed) throw boost::system::system_error(found.error, "receive");
      if (found.is == quintet::frame::state::complete) {
        std::string message(found.message);
        received_.erase(0, found.size);
        return message;
      }
      std::array<char, 4096> some{};
      received_.append(some.data(), socket_.read_some(asio::buffer(some)));
    }
  }

 private:
  asio::io_context context_;
  asio::ip::tcp::socket socket_{context_};
  std::string received_;
};

/// Prints what the server sends for one request: rows, and the message after them. Returns false if there is more.
bool print_answer(client& server, const command& c) {
  const auto begun = clock_type::now();
  for (unsigned shown = 1;; ++shown) {
    const std::string message = server.receive();
    const auto took = std::chrono::duration_cast<milliseconds>(clock_type::now() - begun);
    const std::string time = c.time ? " (" + std::to_string(took.count()) + " ms)" : "";
    std::printf("%s%s\n", message.c_str(), time.c_str());
    std::fflush(stdout);
    if (!message.starts_with("row ")) return true;
    if (shown == c.first) return false;
    std::this_thread::sleep_for(milliseconds(c.slowly_ms));
  }
}

/// Sends the requests again and again, and returns the number of replies.
unsigned count_replies(const command& c) {
  client server(c.port);
  unsigned replies = 0;
  for (unsigned i = 0; i < c.times; ++i) {
    for (const std::string& request : c.requests) {
      server.send(request);
      while (server.receive().starts_with("row ")) {
      }
      ++replies;
    }
  }
  return replies;
}

void count_on_all_connections(const command& c) {
  std::vector<std::future<unsigned>> running;
  for (unsigned i = 0; i < c.connections; ++i)
    running.push_back(std::async(std::launch::async, [&c] { return count_replies(c); }));
  unsigned replies = 0;
  for (auto& one : running) replies += one.get();
  std::printf("%u replies\n", replies);
}

void ask_each(const command& c) {
  client server(c.port);
  for (const std::string& request : c.requests) {
    server.send(request);
    if (!print_answer(server, c)) return;
  }
}

void ask(const command& c) {
  if (c.connections > 1 || c.times > 1) return count_on_all_connections(c);
  if (c.beside.empty()) return ask_each(c);
  client other(c.port);
  other.send(c.beside);
  std::this_thread::sleep_for(milliseconds(200));  // so that the server has begun with it
  ask_each(c);
}

}  // namespace

int main(int argc, char** argv) {
  command c;
  CLI::App app("The client of the tutorial: sends each request to 127.0.0.1 and prints the answer.", "tutorial_ask");
  example::add_version(app, "tutorial_ask");
  app.add_option("PORT", c.port)->required();
  app.add_option("REQUEST", c.requests)->required();
  app.add_option("--beside", c.beside, "a request that is sent 200 ms before, on a connection of its own");
  app.add_option("--connections", c.connections, "ask on so many connections, and print the number of replies");
  app.add_option("--times", c.times, "ask so often on each connection, and print the number of replies");
  app.add_option("--first", c.first, "leave after so many rows");
  app.add_option("--slowly", c.slowly_ms, "milliseconds to wait after each row");
  app.add_flag("--time", c.time, "print the time that each reply took");
  CLI11_PARSE(app, argc, argv);
  try {
    ask(c);
  } catch (const boost::system::system_error& e) {
    std::fprintf(stderr, "tutorial_ask: %s\n",
                 e.code() == asio::error::eof || e.code() == asio::error::connection_reset
                     ? "the server has closed the connection"
                     : e.what());
    return 1;
  }
}
