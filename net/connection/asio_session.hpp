// SPDX-License-Identifier: BSL-1.0
// asio_session: a connection whose handler takes an asio_stream.
#pragma once

#include "../watch/type_text.hpp"
#include "asio_stream.hpp"
#include "session.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>

#include <concepts>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>

namespace quintet::detail {

template <class R>
struct asio_result_of : std::bool_constant<std::is_void_v<R>> {};
template <class Executor>
struct asio_result_of<boost::asio::awaitable<void, Executor>> : std::true_type {
  using executor_type = Executor;
};

/// The completion handler of the handler's coroutine. Asio destroys it without a call where memory is short.
class asio_coroutine_end {
 public:
  using cancellation_slot_type = boost::asio::cancellation_slot;
  asio_coroutine_end(asio_port& port, cancellation_slot_type slot) noexcept : port_(&port), slot_(slot) {
    port.add_user();
  }
  asio_coroutine_end(asio_coroutine_end&& other) noexcept
      : port_(std::exchange(other.port_, nullptr)), slot_(other.slot_) {}
  asio_coroutine_end& operator=(asio_coroutine_end&&) = delete;
  ~asio_coroutine_end() {
    if (port_) port_->coroutine_ended(std::make_exception_ptr(std::bad_alloc()));
  }
  void operator()(const std::exception_ptr& thrown) noexcept { std::exchange(port_, nullptr)->coroutine_ended(thrown); }
  [[nodiscard]] cancellation_slot_type get_cancellation_slot() const noexcept { return slot_; }

 private:
  asio_port* port_;
  cancellation_slot_type slot_;
};

template <class Handler>
class asio_session final : public asio_port {
 public:
  static constexpr bool can_move = false;  // the stream refers to this object

  static session_manager::session_ptr make(session_manager& manager, event_loop& loop, connection_host& host,
                                           Handler handler) {
    return {new asio_session(manager, loop, host, std::move(handler)), {&destroy_session}};
  }
  /// [loop] Returns the handler of an ended session, which must be of this type.
  static Handler& handler_of(connection_core& ended) noexcept { return static_cast<asio_session&>(ended).handler_; }

 private:
  using result_type = std::invoke_result_t<Handler&, asio_stream>;

  asio_session(session_manager& manager, event_loop& loop, connection_host& host, Handler handler)
      : asio_port(loop, host), manager_(manager), handler_(std::move(handler)) {}
  static void destroy_session(connection_core& c) noexcept { delete static_cast<asio_session*>(&c); }

  error_code begin(stream_handle&& s) noexcept override { return open(std::move(s), {.open = true, .close = true}); }
  void dispatch(quintet::work_item& item) noexcept override { item(); }
  void offload(quintet::work_item& item) noexcept override {
    if (manager_.runs_here(loop()) && !manager_.model().runs_inline()) return item();  // the priority loop
    manager_.model().offload(item);
  }
  void start() override {
    if constexpr (std::is_void_v<result_type>) {
      handler_(asio_stream(*this));
    } else {
      const typename asio_result_of<result_type>::executor_type here = loop_executor(loop());
      boost::asio::co_spawn(here, handler_(asio_stream(*this)), asio_coroutine_end(*this, cancelled_.slot()));
    }
  }
  void cancel_coroutine() override { cancelled_.emit(boost::asio::cancellation_type::terminal); }
  [[nodiscard]] const char* handler_type() const noexcept override { return type_text<Handler>(); }
  void destroy() noexcept override { manager_.retire(*this, &destroy_session); }

  session_manager& manager_;
  boost::asio::cancellation_signal cancelled_;
  [[no_unique_address]] Handler handler_;
};

template <class H>
  requires(!message_handler<H> && !coroutine_handler<H> && std::invocable<H&, asio_stream> &&
           asio_result_of<std::invoke_result_t<H&, asio_stream>>::value)
struct asio_session_for<H> {
  using type = asio_session<H>;
};

}  // namespace quintet::detail
