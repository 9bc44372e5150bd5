// SPDX-License-Identifier: BSL-1.0
// asio_echo: the echo of the budget as a program of Asio writes it: on asio_stream, and on Asio's own sockets.
#include "budget.hpp"
#include "plain_server.hpp"

#include <quintet/net/asio_stream.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace quintet::budget {
namespace {

template <class Stream>
class callback_echo : public std::enable_shared_from_this<callback_echo<Stream>> {
 public:
  explicit callback_echo(Stream s) : stream_(std::move(s)) {}
  void read() {
    stream_.async_read_some(boost::asio::buffer(data_),
                            [self = this->shared_from_this()](const boost::system::error_code& why, std::size_t count) {
                              if (!why) self->write(count);
                            });
  }

 private:
  void write(std::size_t count) {
    boost::asio::async_write(stream_, boost::asio::buffer(data_, count),
                             [self = this->shared_from_this()](const boost::system::error_code& why, std::size_t) {
                               if (!why) self->read();
                             });
  }
  Stream stream_;
  std::array<char, 4096> data_{};
};

template <class Stream>
void echo_by_callbacks(Stream s) {
  std::make_shared<callback_echo<Stream>>(std::move(s))->read();
}

template <class Stream>
boost::asio::awaitable<void> echo_by_awaitable(Stream s) {
  std::array<char, 4096> data;
  for (;;) {
    const std::size_t count = co_await s.async_read_some(boost::asio::buffer(data), boost::asio::use_awaitable);
    co_await boost::asio::async_write(s, boost::asio::buffer(data, count), boost::asio::use_awaitable);
  }
}

void start_callbacks(boost::asio::io_context&, plain_server::tcp::socket s) { echo_by_callbacks(std::move(s)); }
void start_coroutine(boost::asio::io_context& in, plain_server::tcp::socket s) {
  boost::asio::co_spawn(in, echo_by_awaitable(std::move(s)), boost::asio::detached);
}

}  // namespace

int serve_asio_echo(const std::string& flavour, const config& with, const std::string& requests,
                    const std::string& connections) {
  const bool awaits = flavour.ends_with("_awaits");
  if (flavour.starts_with("plain_"))
    return serve(plain_server(awaits ? &start_coroutine : &start_callbacks), requests, connections);
  if (awaits) return serve(server(with, &echo_by_awaitable<asio_stream>), requests, connections);
  return serve(server(with, &echo_by_callbacks<asio_stream>), requests, connections);
}

}  // namespace quintet::budget
