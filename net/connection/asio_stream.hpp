// SPDX-License-Identifier: BSL-1.0
// asio_stream: an accepted connection as a stream of Asio, for what stands on Asio's streams.
#pragma once

#include "../loop/executor.hpp"
#include "asio_offload.hpp"
#include "asio_operation.hpp"
#include "asio_port.hpp"

#include <boost/asio/async_result.hpp>

#include <concepts>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

namespace quintet {
namespace detail {

template <class Handler>
class asio_session;

}  // namespace detail

/// A connection that models Asio's AsyncReadStream and AsyncWriteStream: for async_read_until(), composed operations,
/// boost::asio::ssl::stream, and, with <quintet/net/asio_beast.hpp>, Beast. A handler takes one by value:
///
///     boost::asio::awaitable<void> echo(quintet::asio_stream s) {
///       std::array<char, 4096> data;
///       for (;;) {
///         const std::size_t count = co_await s.async_read_some(boost::asio::buffer(data), boost::asio::use_awaitable);
///         co_await boost::asio::async_write(s, boost::asio::buffer(data, count), boost::asio::use_awaitable);
///       }
///     }
///
/// It always runs on the connection's loop, under each thread model: expensive work goes through async_offload(). All
/// functions: [loop]. The connection closes when its stream has been destroyed and the handler's coroutine has ended.
/// A handler may end before, and leave the stream in an object of its own. An exception that leaves the coroutine or a
/// completion closes the connection, and counts in `handler_errors` unless it tells of the end (doc/asio.md).
///
/// Completions never run within the function that begins an operation. At most one read and one write may be in
/// progress; a second one fails with boost::asio::error::already_started. Cancellation of any type works for each.
class asio_stream {
 public:
  using executor_type = loop_executor;    ///< as Asio asks
  using lowest_layer_type = asio_stream;  ///< as boost::asio::ssl::stream asks

  /// Moves the connection.
  asio_stream(asio_stream&& other) noexcept : port_(std::exchange(other.port_, nullptr)) {}
  asio_stream& operator=(asio_stream&& other) noexcept {
    std::swap(port_, other.port_);
    return *this;
  }
  /// Operations in progress complete with operation_aborted.
  ~asio_stream() {
    if (!port_) return;
    port_->cancel();
    port_->remove_user();
  }

  /// Returns the executor of the connection's loop. An idle coroutine on it costs the loop nothing.
  [[nodiscard]] executor_type get_executor() const noexcept { return executor_type(port_->loop()); }
  [[nodiscard]] lowest_layer_type& lowest_layer() noexcept { return *this; }
  [[nodiscard]] const lowest_layer_type& lowest_layer() const noexcept { return *this; }

  /// Completes with at least one byte, or with an error: boost::asio::error::eof after the peer's end; the reason of a
  /// reset or a time limit; errc::stopped when the server stops, and when it drains and all that had arrived was read:
  /// then the handler may still write. Fills the first 3 buffers at most. Output that waits does not hold it, except
  /// under thread_per_connection while the thread waits in send().
  template <class Buffers, class Token = boost::asio::default_completion_token_t<executor_type>>
  auto async_read_some(const Buffers& buffers, Token&& token = {}) {
    return boost::asio::async_initiate<Token, void(error_code, std::size_t)>(
        initiation<detail::read_operation>{port_, &detail::asio_port::read}, token, buffers);
  }
  /// Takes at most 64 KiB, of the first 3 buffers at most, as soon as less than `high_watermark` waits for the peer;
  /// boost::asio::async_write() repeats that. Taken output leaves before the next read waits. Fails with EPIPE after
  /// shutdown_send() or close().
  template <class Buffers, class Token = boost::asio::default_completion_token_t<executor_type>>
  auto async_write_some(const Buffers& buffers, Token&& token = {}) {
    return boost::asio::async_initiate<Token, void(error_code, std::size_t)>(
        initiation<detail::write_operation>{port_, &detail::asio_port::write}, token, buffers);
  }
  /// Completes operations in progress with operation_aborted.
  void cancel() noexcept { port_->cancel(); }
  /// Half-closes: once taken output has left, the peer is told that no more follows. Reads continue.
  void shutdown_send() noexcept { port_->end_sending(); }
  /// Cancels operations in progress, and closes the connection once taken output has left.
  void close() noexcept { port_->close_stream(); }
  [[nodiscard]] bool is_open() const noexcept { return !port_->is_closed(); }

  /// Runs f() where the thread model runs handlers, as stream::offload() does: on the pool, or on this loop where there
  /// is none. Completes on the loop with void(std::exception_ptr, R), or void(std::exception_ptr) if f returns nothing.
  /// f must not use the stream. A cancellation does not end it. If the completion throws, the connection closes.
  template <std::invocable F, class Token>
  auto async_offload(F f, Token&& token) {
    using result = std::decay_t<std::invoke_result_t<F&>>;
    using operation = detail::asio_offload<F, result>;
    return boost::asio::async_initiate<Token, typename operation::signature>(
        [port = port_](auto handler, F function) { operation::begin(*port, std::move(function), std::move(handler)); },
        token, std::move(f));
  }

  /// A message of the peer has been read to its end: starts `message_timeout` again, as writing does.
  void message_done() noexcept { port_->message_done(); }
  /// Returns why the connection has failed, as on_close() would get it, or no error.
  [[nodiscard]] error_code failure() const noexcept { return port_->failure(); }
  /// Returns whether the server drains.
  [[nodiscard]] bool draining() const noexcept { return port_->hears_of_drain(); }
  [[nodiscard]] connection_id id() const noexcept { return port_->id(); }
  [[nodiscard]] event_loop& loop() const noexcept { return port_->loop(); }
  /// Returns the registry of the server's connections. Calls that it posts to this one wait for its next read.
  [[nodiscard]] connection_registry& registry() const noexcept { return port_->host_.registry; }
  /// Returns the peer as `127.0.0.1:80` or `[::1]:80`.
  [[nodiscard]] std::string peer_address() const { return port_->peer_text(); }

 private:
  template <class Handler>
  friend class detail::asio_session;
  explicit asio_stream(detail::asio_port& port) noexcept : port_(&port) { port.add_user(); }

  template <class Operation>
  struct initiation {
    using executor_type = loop_executor;
    [[nodiscard]] executor_type get_executor() const noexcept { return executor_type(port->loop()); }
    template <class Handler, class Buffers>
    void operator()(Handler&& handler, const Buffers& buffers) const {
      detail::waiting_handler<std::decay_t<Handler>>::begin(*port, (port->*operation)(), std::forward<Handler>(handler),
                                                            buffers);
    }
    detail::asio_port* port;
    Operation& (detail::asio_port::*operation)() noexcept;
  };

  detail::asio_port* port_;
};

}  // namespace quintet
