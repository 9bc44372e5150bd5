// SPDX-License-Identifier: BSL-1.0
// handler: the handlers that a server accepts, and factories for handlers that cannot be copied.
#pragma once

#include "connection.hpp"

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace quintet {

class stream;  // in stream.hpp, which threadmodels/server.hpp includes
template <class T>
class awaitable;

/// Result of a handler's classify() for the first bytes of a connection.
enum class connection_class : std::uint8_t {
  ordinary,   ///< it stays where the threading model placed it
  priority,   ///< it moves to the priority loop before the handler sees any input
  undecided,  ///< more bytes are needed; from 4096 bytes on it counts as ordinary
};

/// (connection&, bytes) -> number of bytes used, or void for all. Not bool: `return c.write(in)` gives no length.
template <class H>
concept message_handler = std::invocable<H&, connection&, bytes> &&
                          (std::is_void_v<std::invoke_result_t<H&, connection&, bytes>> ||
                           (std::convertible_to<std::invoke_result_t<H&, connection&, bytes>, std::size_t> &&
                            !std::same_as<std::invoke_result_t<H&, connection&, bytes>, bool>));

/// (stream&) -> awaitable<>
template <class H>
concept coroutine_handler = !message_handler<H> && std::invocable<H&, stream&> &&
                            std::same_as<std::invoke_result_t<H&, stream&>, awaitable<void>>;

namespace detail {

/// The session of a handler of Asio's streams, as `type`; asio_stream.hpp specialises it.
template <class H>
struct asio_session_for {};

}  // namespace detail

/// (asio_stream) -> boost::asio::awaitable<void>, or void. Requires <quintet/net/asio_stream.hpp>.
template <class H>
concept asio_handler = requires { typename detail::asio_session_for<H>::type; };

/// A callback or coroutine handler, or one of Asio's streams. A callback handler may have, in addition:
///
///   on_open(connection&)                before any input
///   on_writable(connection&)            connection::writable() was false, and output is down to the low watermark:
///                                       continues a long reply. No input comes before it
///   classify(bytes first)               on the loop, before the handler sees input: returns the connection_class.
///                                       `priority` moves the connection to the priority loop. After `undecided` it
///                                       runs again with more bytes. Must not take long
///   on_overload(connection&, bytes)     instead of the handler, returning the same: this batch has waited for a pool
///                                       longer than worker_limits::overload_latency. Writes the protocol's "busy";
///                                       without it, batches wait. Must not take long: it may run on a loop
///   on_read_eof(connection&)            the peer has finished sending, and all its input was delivered. Now the
///                                       handler decides when to close(). Without this function the connection closes
///                                       by itself after its output has been sent
///   on_drain(connection&)               the server is draining and everything received was answered. Writes the
///                                       protocol's goodbye; the connection closes after it
///   on_limit(connection&, error_code)   a time limit of input ends the connection: first_byte_timeout, idle_timeout or
///                                       message_timeout. Writes the protocol's goodbye; then the connection closes
///                                       with that reason, as by close(why). Not for a peer that does not read
///   on_close(connection&, error_code)   the connection has closed; nothing can be sent any more
///
/// All except classify() are called as the handler itself: with the baton, where the model runs handlers.
template <class H>
concept handler = message_handler<H> || coroutine_handler<H> || asio_handler<H>;

namespace detail {

template <class F>
struct made_handler : std::invoke_result<F&> {};
template <std::invocable<const connection_ends&> F>
struct made_handler<F> : std::invoke_result<F&, const connection_ends&> {};

}  // namespace detail

/// Makes a handler for each connection, for handlers that cannot or must not be copied, or that need the connection's
/// addresses. `server(config, handler_factory([&] { return session{std::make_unique<state>()}; }))`. The thread of the
/// connection's loop calls the function, so it must be safe for calls from several threads at once. It may take a
/// `const connection_ends&`, which costs two system calls per connection.
template <class F>
  requires handler<typename detail::made_handler<F>::type>
struct handler_factory {
  /// `f` makes a handler.
  explicit handler_factory(F f) : make(std::move(f)) {}
  F make;  ///< called once for each connection
};

namespace detail {

/// [loop] Asks the system, by two calls, unless a proxy has told them.
[[nodiscard]] connection_ends ends_of(engine& io, const stream_handle& stream);

/// A handler that is copied for each connection, as a factory.
template <class H>
struct handler_source {
  using type = H;
  H prototype;
  H make(engine&, const stream_handle&) { return prototype; }
};
template <class F>
struct handler_source<handler_factory<F>> {
  using type = typename made_handler<F>::type;
  handler_factory<F> factory;
  type make(engine& io, const stream_handle& stream) {
    if constexpr (std::invocable<F&, const connection_ends&>)
      return factory.make(ends_of(io, stream));
    else
      return factory.make();
  }
};

}  // namespace detail

/// A server accepts a copyable handler or a factory.
template <class S>
concept handler_or_factory =
    (handler<S> && std::copy_constructible<S>) || (!handler<S> && handler<typename detail::handler_source<S>::type>);

namespace detail {

/// Stands for a type that is no handler, so that the compiler says only why it is none.
struct no_handler {
  template <class H>
  no_handler(H&&) {}  // NOLINT: takes the place of any handler
  void operator()(connection&, bytes) const {}
};

/// A server's or a client's second argument, or an error with a text that says what to change.
template <class S>
struct handler_check {
  static constexpr bool is_accepted = handler_or_factory<S>;
  using type = std::conditional_t<is_accepted, S, no_handler>;
  static_assert(
      is_accepted || handler<S>,
      "Quintet: this is no handler. A handler takes (quintet::connection&, quintet::bytes) and returns void, "
      "or the number of bytes that it has used (not bool); or it is a coroutine that takes (quintet::stream&) "
      "and returns quintet::awaitable<>; or it takes a quintet::asio_stream, of quintet/net/asio_stream.hpp, and "
      "returns boost::asio::awaitable<void>. See quintet/net/handler.hpp");
  static_assert(is_accepted || !handler<S>,
                "Quintet: this handler cannot be copied, and each connection gets a copy. Pass a function that makes a "
                "handler for each connection: quintet::handler_factory([] { return my_handler(...); })");
};
template <class S>
using checked_handler = typename handler_check<S>::type;

}  // namespace detail

}  // namespace quintet
