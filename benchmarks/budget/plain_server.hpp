// SPDX-License-Identifier: BSL-1.0
// plain_server: a server of Asio alone, for comparison.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <cstdint>
#include <utility>

namespace quintet::budget {

/// Ends when `stop()` was called.
class plain_server {
 public:
  using tcp = boost::asio::ip::tcp;
  /// Begins to serve a connection.
  using starter = void (*)(boost::asio::io_context& in, tcp::socket socket);

  explicit plain_server(starter start) : start_(start) { accept(); }
  [[nodiscard]] std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  void run() { context_.run(); }
  void stop() { context_.stop(); }

 private:
  void accept() {
    acceptor_.async_accept([this](const boost::system::error_code& why, tcp::socket socket) {
      if (why) return;
      socket.set_option(tcp::no_delay(true));
      start_(context_, std::move(socket));
      accept();
    });
  }
  const starter start_;
  boost::asio::io_context context_{1};
  tcp::acceptor acceptor_{context_, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0)};
};

}  // namespace quintet::budget
