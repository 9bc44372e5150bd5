// SPDX-License-Identifier: BSL-1.0
// asio_session.hpp: an echoing connection on plain Boost.Asio,
// with callbacks in the style of its tutorial and examples.
#pragma once

#include "peers/makers.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include <memory>
#include <utility>

namespace quintet::bench {

class asio_session : public std::enable_shared_from_this<asio_session> {
 public:
  explicit asio_session(boost::asio::ip::tcp::socket socket) : socket_(std::move(socket)) {}

  void read() {
    socket_.async_read_some(boost::asio::buffer(data_.get(), peer_buffer_bytes),
                            [self = shared_from_this()](boost::system::error_code ec, std::size_t got) {
                              if (!ec) self->write(got);
                            });
  }

 private:
  void write(std::size_t bytes) {
    boost::asio::async_write(socket_, boost::asio::buffer(data_.get(), bytes),
                             [self = shared_from_this()](boost::system::error_code ec, std::size_t /*sent*/) {
                               if (!ec) self->read();
                             });
  }

  boost::asio::ip::tcp::socket socket_;
  std::unique_ptr<char[]> data_ = std::make_unique_for_overwrite<char[]>(peer_buffer_bytes);
};

/// Starts a session for each connection, until the acceptor's io_context stops.
inline void accept_sessions(boost::asio::ip::tcp::acceptor& acceptor) {
  acceptor.async_accept([&acceptor](boost::system::error_code ec, boost::asio::ip::tcp::socket socket) {
    boost::system::error_code ignored;
    if (!ec) {
      socket.set_option(boost::asio::ip::tcp::no_delay(true), ignored);
      std::make_shared<asio_session>(std::move(socket))->read();
    }
    accept_sessions(acceptor);
  });
}

}  // namespace quintet::bench
