// SPDX-License-Identifier: BSL-1.0
// connection_pool: sockets connected to one destination, lent to the coroutines of one loop, one at a time each.
#pragma once

#include "../loop/awaitable.hpp"
#include "../loop/coroutine_host.hpp"
#include "../loop/executor.hpp"
#include "../options/pool_options.hpp"
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

/// One for each loop, in every model, by way of event_loop::use():
///
///     struct upstream : quintet::connection_pool {
///       explicit upstream(quintet::event_loop& loop) : connection_pool(loop, "db.example:5432") {}
///     };
///     auto c = co_await s.loop().use<upstream>().get();
///     co_await boost::asio::async_write(c.socket(), ...);
///
/// Everything here is of the loop's thread. The pool may go while sockets are lent, which are closed when they come
/// back, and while somebody waits, who gets errc::stopped. What was lent must be back before the loop is destroyed,
/// which it is when it lives in a coroutine of a connection of that loop.
class connection_pool : private timer {
 public:
  using socket_type = boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol, loop_executor>;
  class lease;
  class waiter;
  struct get_operation {
    connection_pool& pool;
  };

  /// [loop] Throws config_error.
  connection_pool(event_loop& loop, destination to, pool_options options = {});
  ~connection_pool();
  connection_pool(const connection_pool&) = delete;
  connection_pool& operator=(const connection_pool&) = delete;

  /// [loop] To be awaited: a lease of an idle socket, or of a new one; when `max` are lent, of the next that comes
  /// back. Who waits is served in order. Throws boost::system::system_error: why it could not connect, or
  /// errc::stopped.
  [[nodiscard]] get_operation get() noexcept { return {*this}; }

  /// [loop] Sockets that wait for use, and all there are.
  [[nodiscard]] std::size_t idle() const noexcept { return idle_.size(); }
  [[nodiscard]] std::size_t size() const noexcept { return idle_.size() + lent_; }

 private:
  struct idle_socket {
    socket_type socket;
    time_point since;
  };
  using dial_list = std::list<std::unique_ptr<connector>>;
  using self_pointer = std::shared_ptr<connection_pool*>;  // nullptr, when the pool has gone
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
  const pool_options options_;
  std::deque<idle_socket> idle_;  // that which was used last is at the end, and is used next
  std::size_t lent_ = 0;
  dial_list dialling_;
  std::deque<waiter*> waiting_;
};

/// A socket, until it is destroyed: then it goes back. One that the peer has closed, or has sent something to which
/// nobody has read, is closed instead; so is one that is given back because of an exception.
class connection_pool::lease {
 public:
  lease(lease&& other) noexcept
      : pool_(std::move(other.pool_)), socket_(std::move(other.socket_)), good_(other.good_) {}
  lease& operator=(lease&&) = delete;
  ~lease();

  [[nodiscard]] socket_type& socket() noexcept { return socket_; }
  /// It is closed, whatever its state: an answer that is still to come would be taken for that of the next question.
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

  [[nodiscard]] bool await_ready() { return static_cast<bool>(given_ = (*pool_)->take_idle()); }
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
