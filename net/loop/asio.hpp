// SPDX-License-Identifier: BSL-1.0
// asio: lets a quintet coroutine co_await Asio's operations on its own loop.
#pragma once

#include "../../base/work/work_item.hpp"
#include "awaitable.hpp"
#include "coroutine_host.hpp"
#include "executor.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

#include <chrono>
#include <exception>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace quintet {
namespace detail {

/// A completion's arguments once a leading error_code or exception_ptr has become a throw: none, one or a tuple.
template <class... Args>
struct asio_result {
  using type = std::tuple<Args...>;
  static auto get(std::tuple<Args...>&& all) {
    if constexpr (sizeof...(Args) == 1)
      return std::get<0>(std::move(all));
    else if constexpr (sizeof...(Args) > 1)
      return std::move(all);
  }
};
template <class... Args>
struct asio_result<error_code, Args...> {
  static auto get(std::tuple<error_code, Args...>&& all) {
    return std::apply(
        [](error_code ec, auto&&... rest) {
          if (ec) throw boost::system::system_error(ec);
          return asio_result<Args...>::get(std::tuple<Args...>(std::move(rest)...));
        },
        std::move(all));
  }
};
template <class... Args>
struct asio_result<std::exception_ptr, Args...> {
  static auto get(std::tuple<std::exception_ptr, Args...>&& all) {
    return std::apply(
        [](const std::exception_ptr& e, auto&&... rest) {
          if (e) std::rethrow_exception(e);
          return asio_result<Args...>::get(std::tuple<Args...>(std::move(rest)...));
        },
        std::move(all));
  }
};

/// Starts the operation with a handler that runs on the host's loop and that the host can cancel. `spawned`: the
/// operation is co_spawn(), which runs on the loop by itself.
template <class Operation, class Signature, bool spawned = false>
class asio_awaiter;

template <class Operation, class... Args, bool spawned>
class asio_awaiter<Operation, void(Args...), spawned> final : private cancellable, private work_item, private timer {
 public:
  asio_awaiter(Operation&& op, coroutine_host& host)
      : work_item(&asio_awaiter::resume_lost), operation_(std::move(op)), host_(host) {}
  ~asio_awaiter() {
    if (handler_) handler_->is_owner_ = false;
  }

  static constexpr bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiting) {
    waiting_ = waiting;
    const bool is_cancelled = host_.add(*this);
    initiation now;  // on the stack, as is op: the initiation may destroy this object
    now_ = &now;
    Operation op = std::move(operation_);
    std::move(op)(std::conditional_t<spawned, handler, handler_on_loop>(this));
    if (now.completed) return;
    now_ = nullptr;
    if (now.lost) throw aborted();
    if (is_cancelled) cancel();
  }
  auto await_resume() {
    if (!result_) throw aborted();
    return asio_result<std::decay_t<Args>...>::get(std::move(*result_));
  }

 private:
  struct initiation {
    bool completed = false, lost = false;
  };
  /// The completion handler. Asio destroys it without a call if the operation is abandoned, as when a coroutine of Asio
  /// finds no memory for its next step. The waiting coroutine then gets operation_aborted, or it would wait forever.
  class handler {
   public:
    using cancellation_slot_type = boost::asio::cancellation_slot;
    explicit handler(asio_awaiter* self) noexcept : self_(self), is_owner_(true) { self_->handler_ = this; }
    handler(handler&& other) noexcept : self_(other.self_), is_owner_(std::exchange(other.is_owner_, false)) {
      if (is_owner_) self_->handler_ = this;
    }
    handler& operator=(handler&&) = delete;
    ~handler() {
      if (is_owner_) self_->lost();
    }
    cancellation_slot_type get_cancellation_slot() const noexcept { return self_->signal_.slot(); }
    template <class... Given>
    void operator()(Given&&... given) {
      is_owner_ = false;
      self_->handler_ = nullptr;
      if (self_->now_) std::exchange(self_->now_, nullptr)->completed = true;
      try {
        self_->result_.emplace(std::forward<Given>(given)...);
      } catch (...) {  // moving the arguments threw: treated as abandoned
      }
      self_->host_.resume(self_->waiting_);
    }

   protected:
    asio_awaiter* self_;

   private:
    friend asio_awaiter;
    bool is_owner_;  // neither moved from nor called
  };
  /// co_spawn() gets a handler without an executor. Asio passes a cancellation to a handler with an executor by
  /// dispatch(). A queued dispatch may find the coroutine and the signal destroyed
  /// (https://github.com/chriskohlhoff/asio/issues/1332).
  class handler_on_loop : public handler {
   public:
    using executor_type = loop_executor;
    using handler::handler;
    executor_type get_executor() const noexcept { return this->self_->host_.host_loop().get_executor(); }
  };
  static boost::system::system_error aborted() {
    return boost::system::system_error(error_code(boost::asio::error::operation_aborted));
  }
  void lost() noexcept {
    handler_ = nullptr;
    if (now_)
      now_->lost = true;
    else
      host_.host_loop().post(static_cast<work_item&>(*this));
  }
  static void resume_lost(work_item& item) noexcept {
    auto& self = static_cast<asio_awaiter&>(item);
    self.host_.resume(self.waiting_);
  }
  // An operation may allocate to be cancelled, for instance to pass the signal to another executor.
  void cancel() noexcept override try { signal_.emit(boost::asio::cancellation_type::terminal); } catch (...) {
    host_.host_loop().start(static_cast<timer&>(*this), std::chrono::milliseconds(10));
  }
  void expired() noexcept override { cancel(); }

  Operation operation_;
  coroutine_host& host_;
  boost::asio::cancellation_signal signal_;
  std::coroutine_handle<> waiting_;
  std::optional<std::tuple<std::decay_t<Args>...>> result_;
  initiation* now_ = nullptr;  // set while the initiation runs
  handler* handler_ = nullptr;
};

}  // namespace detail

/// Allows `co_await timer.async_wait(boost::asio::deferred)`. Throws boost::system::system_error.
template <class Operation>
  requires boost::asio::is_async_operation<Operation>::value
struct await_adapter<Operation> {
  static auto adapt(Operation op, coroutine_host& host) {
    using signature = typename boost::asio::completion_signature_of<Operation>::type;
    return detail::asio_awaiter<Operation, signature>(std::move(op), host);
  }
};

/// Allows `co_await client.async_get(key, boost::asio::use_awaitable)`, and all functions that return Asio awaitables.
template <class T, class Executor>
struct await_adapter<boost::asio::awaitable<T, Executor>> {
  static auto adapt(boost::asio::awaitable<T, Executor> coroutine, coroutine_host& host) {
    auto op = boost::asio::co_spawn(host.host_loop().get_executor(), std::move(coroutine), boost::asio::deferred);
    using signature = typename boost::asio::completion_signature_of<decltype(op)>::type;
    return detail::asio_awaiter<decltype(op), signature, true>(std::move(op), host);
  }
};

}  // namespace quintet
