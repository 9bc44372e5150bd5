// SPDX-License-Identifier: BSL-1.0
// connection_pool: sockets connected to one destination, lent to the coroutines of one loop.
#pragma once

#include "../loop/awaitable.hpp"
#include "../loop/coroutine_host.hpp"
#include "../loop/executor.hpp"
#include "../options/connection_pool_options.hpp"
#include "connector.hpp"

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/generic/stream_protocol.hpp>

#include <coroutine>
#include <cstddef>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <utility>

namespace quintet {

/// A pool of one loop. event_loop::use() makes one for each loop, in every model:
///
///     struct upstream : quintet::connection_pool {
///       explicit upstream(quintet::event_loop& loop) : connection_pool(loop, "db.example:5432") {}
///     };
///     auto c = co_await s.loop().use<upstream>().get();
///     co_await boost::asio::async_write(c.socket(), ...);
///
/// Use everything here on the loop's thread. The pool may be destroyed while sockets are lent or coroutines wait. A
/// lent socket is then closed at its return, and waiters get errc::stopped. Every lease must end before the loop is
/// destroyed. Leases in coroutines of the loop's connections do.
class connection_pool : private timer {
 public:
  /// The type of a lent socket.
  using socket_type = boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol, loop_executor>;
  class lease;
  class waiter;
  /// The result of get(), for co_await.
  struct get_operation {
    connection_pool& pool;  ///< of which it asks
  };

  /// [loop] Throws config_error.
  connection_pool(event_loop& loop, destination to, connection_pool_options options = {});
  ~connection_pool();
  connection_pool(const connection_pool&) = delete;
  connection_pool& operator=(const connection_pool&) = delete;

  /// [loop] `co_await pool.get()` returns a lease of an idle socket or a new one. If `max` sockets are lent, it waits
  /// for the next to return. Waiters are served in order. Throws boost::system::system_error: the reason why it could
  /// not connect, or errc::stopped.
  [[nodiscard]] get_operation get() noexcept { return {*this}; }

  /// [loop] Return the number of idle sockets, and of idle and lent ones.
  [[nodiscard]] std::size_t idle() const noexcept { return idle_.size(); }
  [[nodiscard]] std::size_t size() const noexcept { return idle_.size() + lent_; }

 private:
  struct idle_socket {
    socket_type socket;
    time_point since;
  };
  using dial_list = std::list<std::unique_ptr<connector>>;
  using self_pointer = std::shared_ptr<connection_pool*>;  // points to nullptr once the pool is destroyed
  std::optional<socket_type> take_idle();
  void put_back(socket_type socket, bool good) noexcept;
  [[nodiscard]] bool dials_if_necessary() noexcept;
  error_code add_idle(int handle) noexcept;
  void dialled(dial_list::iterator which, error_code failed, int handle) noexcept;
  void serve() noexcept;
  void watch_time() noexcept;
  void expired() noexcept override;

  event_loop& loop_;
  const self_pointer self_ = std::make_shared<connection_pool*>(this);
  const destination to_;
  const connection_pool_options options_;
  std::deque<idle_socket> idle_;  // the last used is at the end, and is used next
  std::size_t lent_ = 0;
  dial_list dialling_;
  std::deque<waiter*> waiting_;
};

/// A lent socket, which the destructor returns to the pool. The destructor closes the socket instead if the peer has
/// closed it, if unread input has arrived, or during an exception.
class connection_pool::lease {
 public:
  lease(lease&& other) noexcept
      : pool_(std::move(other.pool_)), socket_(std::move(other.socket_)), good_(other.good_) {}
  lease& operator=(lease&&) = delete;
  ~lease();

  /// Returns the socket, which is connected.
  [[nodiscard]] socket_type& socket() noexcept { return socket_; }
  /// Makes the destructor close the socket. Call it while a reply is outstanding: the next user would take that reply
  /// for its own.
  void discard() noexcept { good_ = false; }

 private:
  friend class connection_pool;
  lease(self_pointer pool, socket_type socket) noexcept : pool_(std::move(pool)), socket_(std::move(socket)) {}
  self_pointer pool_;
  socket_type socket_;
  bool good_ = true;
};

/// The awaiter of get().
class connection_pool::waiter final : private work_item, private cancellable {
 public:
  waiter(connection_pool& pool, coroutine_host& host) noexcept
      : work_item(&waiter::resume), pool_(pool.self_), loop_(pool.loop_), host_(host) {}

  [[nodiscard]] bool await_ready() {
    return host_.cancelled() == cancel_reason::none && (given_ = (*pool_)->take_idle());
  }
  void await_suspend(std::coroutine_handle<> waiting);
  lease await_resume();

 private:
  friend class connection_pool;
  static void resume(work_item& item) noexcept { static_cast<waiter&>(item).waiting_.resume(); }
  void complete(error_code failed) noexcept;
  void cancel() noexcept override;

  self_pointer pool_;
  event_loop& loop_;
  coroutine_host& host_;
  std::coroutine_handle<> waiting_;
  std::optional<socket_type> given_;
  error_code failed_;
};

template <>
struct await_adapter<connection_pool::get_operation> {
  static auto adapt(connection_pool::get_operation op, coroutine_host& host) {
    return connection_pool::waiter(op.pool, host);
  }
};

}  // namespace quintet
