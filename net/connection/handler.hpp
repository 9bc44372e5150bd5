// SPDX-License-Identifier: BSL-1.0
// handler: what a server accepts as a handler, and factories for handlers that cannot be copied.
#pragma once

#include "connection.hpp"

#include <concepts>
#include <type_traits>
#include <utility>

namespace quintet {

class stream;  // coroutine handlers include <quintet/net/stream.hpp>
template <class T>
class awaitable;

/// (connection&, bytes) -> how much of the input it used, or void for all of it. Not bool: that would be somebody's
/// `return c.write(in)`, and no length.
template <class H>
concept message_handler = std::invocable<H&, connection&, bytes> &&
                          (std::is_void_v<std::invoke_result_t<H&, connection&, bytes>> ||
                           (std::convertible_to<std::invoke_result_t<H&, connection&, bytes>, std::size_t> &&
                            !std::same_as<std::invoke_result_t<H&, connection&, bytes>, bool>));

/// (stream&) -> awaitable<>
template <class H>
concept coroutine_handler = !message_handler<H> && std::invocable<H&, stream&> &&
                            std::same_as<std::invoke_result_t<H&, stream&>, awaitable<void>>;

/// One of the two flavours. A callback handler may have, in addition:
///
///   on_open(connection&)                before any input
///   on_writable(connection&)            connection::writable() was false, and its output has left but for the low
///                                       watermark: the place to go on with a long reply. No input comes before it
///   classify(bytes first)               on the loop, before anything else that is about input: the connection_class
///                                       of the connection. `priority` moves it to the priority loop; with `undecided`
///                                       it is asked again when more has come. Must not take long
///   on_overload(connection&, bytes)     instead of the handler, and returning what it does: this batch has waited for
///                                       a pool longer than worker_limits::overload_latency. The place for the
///                                       protocol's "busy"; without it, batches wait. Must not take long: it may be on
///                                       a loop
///   on_read_eof(connection&)            the peer has finished sending, and everything it sent has been seen. From now
///                                       on the handler decides when to close(); without this function the connection
///                                       closes by itself when its output has left
///   on_drain(connection&)               the server is draining, everything received has been answered, and the
///                                       connection closes after this: the place for the protocol's goodbye
///   on_close(connection&, error_code)   it is over; nothing can be sent any more
///
/// All of them are called as the handler itself is: with the baton, where the model runs handlers.
template <class H>
concept handler = message_handler<H> || coroutine_handler<H>;

/// The two addresses of a connection.
struct connection_ends {
  address peer, local;
};

namespace detail {

template <class F>
struct made_handler : std::invoke_result<F&> {};
template <std::invocable<const connection_ends&> F>
struct made_handler<F> : std::invoke_result<F&, const connection_ends&> {};

}  // namespace detail

/// Makes a handler for each connection: for those that cannot be copied, or must not be, or want to know from where the
/// connection comes, and to which of this machine's addresses.
/// `server(config, handler_factory([&] { return session{std::make_unique<state>()}; }))`. The function is called on the
/// thread of the connection's loop, so it must be safe to call from several threads at once. It may have a parameter,
/// `const connection_ends&`, which costs two system calls for a connection.
template <class F>
  requires handler<typename detail::made_handler<F>::type>
struct handler_factory {
  explicit handler_factory(F f) : make(std::move(f)) {}
  F make;
};

namespace detail {

/// A handler that is copied for each connection, as a factory.
template <class H>
struct handler_source {
  using type = H;
  H prototype;
  H make(engine&, int) { return prototype; }
};
template <class F>
struct handler_source<handler_factory<F>> {
  using type = typename made_handler<F>::type;
  handler_factory<F> factory;
  type make(engine& io, int handle) {
    if constexpr (std::invocable<F&, const connection_ends&>)
      return factory.make(connection_ends{io.sockets().remote_address(handle), io.sockets().local_address(handle)});
    else
      return factory.make();
  }
};

}  // namespace detail

/// What may be given to a server: a copyable handler or a factory.
template <class S>
concept handler_or_factory =
    (handler<S> && std::copy_constructible<S>) || handler<typename detail::handler_source<S>::type>;

}  // namespace quintet
