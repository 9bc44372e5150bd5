// SPDX-License-Identifier: BSL-1.0
// asio_echo.cpp: an echo server on plain Boost.Asio, with callbacks in the style of its tutorial and examples.
#include "peers/asio_session.hpp"
#include "peers/listen.hpp"
#include "peers/makers.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <unistd.h>

namespace quintet::bench {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

class asio_echo final : public listening_peer {
 public:
  asio_echo(const std::string& address, std::uint16_t port)
      : listening_peer(address, port),
        acceptor_(context_, tcp::v4(), ::dup(listening().get())),
        stop_(context_, ::dup(stop_fd())) {}

  void run() override {
    stop_.async_wait(asio::posix::descriptor_base::wait_read, [this](error_code) { context_.stop(); });
    accept();
    context_.run();
  }

 private:
  void accept() {
    acceptor_.async_accept([this](error_code ec, tcp::socket socket) {
      error_code ignored;
      if (!ec) {
        socket.set_option(tcp::no_delay(true), ignored);
        std::make_shared<asio_session>(std::move(socket))->read();
      }
      accept();
    });
  }

  asio::io_context context_;
  tcp::acceptor acceptor_;
  asio::posix::stream_descriptor stop_;
};

}  // namespace

std::unique_ptr<peer_server> make_asio_echo(const std::string& address, std::uint16_t port) {
  return std::make_unique<asio_echo>(address, port);
}

}  // namespace quintet::bench
