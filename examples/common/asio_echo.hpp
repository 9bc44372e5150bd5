// SPDX-License-Identifier: BSL-1.0
// asio_echo: an echo server's parts on plain Boost.Asio, for asio_shared and asio_separate. Nothing of Quintet is here.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

namespace example {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

/// A connection, which sends back what its peer sends. Its pending operation keeps it alive. It has one operation at a
/// time, so it needs no strand, even if several threads run its io_context.
class asio_session : public std::enable_shared_from_this<asio_session> {
 public:
  explicit asio_session(tcp::socket peer) : peer_(std::move(peer)) {}

  void read() {
    peer_.async_read_some(asio::buffer(data_), [self = shared_from_this()](error_code failed, std::size_t size) {
      if (!failed) self->write(size);
    });
  }

 private:
  void write(std::size_t size) {
    asio::async_write(peer_, asio::buffer(data_, size), [self = shared_from_this()](error_code failed, std::size_t) {
      if (!failed) self->read();
    });
  }

  tcp::socket peer_;
  std::array<char, 16 * 1024> data_{};
};

/// Accepts connections at a port of 127.0.0.1 (0: the system picks one). `next` returns the io_context of each.
class asio_listener {
 public:
  asio_listener(asio::io_context& on, std::size_t port, std::function<asio::io_context&()> next)
      : next_(std::move(next)),
        acceptor_(on, {asio::ip::address_v4::loopback(), static_cast<unsigned short>(port)}),
        pause_(on) {
    acceptor_.set_option(tcp::no_delay(true));  // connections inherit it
    accept();
  }

  /// Prints the address in the form of the other examples.
  void announce(const std::string& name) const {
    std::printf("%s: listening on 127.0.0.1:%d\n", name.c_str(), int{acceptor_.local_endpoint().port()});
    std::fflush(stdout);
  }

 private:
  void accept() {
    asio::io_context& context = next_();
    acceptor_.async_accept(context, [this, &context](error_code failed, tcp::socket peer) {
      if (failed) return accept_later();
      // The first step runs on the connection's own io_context, like all later ones.
      asio::post(context, [session = std::make_shared<asio_session>(std::move(peer))] { session->read(); });
      accept();
    });
  }
  // Without free descriptors, accept() would fail again at once.
  void accept_later() {
    pause_.expires_after(std::chrono::milliseconds(10));
    pause_.async_wait([this](error_code failed) {
      if (!failed) accept();
    });
  }

  std::function<asio::io_context&()> next_;
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
};

/// Runs the io_context on a new thread. Destroying the thread stops the io_context and waits for the thread.
inline std::jthread run_on_thread(asio::io_context& context) {
  return std::jthread([&context](const std::stop_token& stop) {
    const auto work = asio::make_work_guard(context);
    const std::stop_callback stopper(stop, [&context] { context.stop(); });
    context.run();
  });
}

}  // namespace example
