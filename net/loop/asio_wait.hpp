// SPDX-License-Identifier: BSL-1.0
// asio_wait: lets callbacks and coroutines of Asio wait for what Quintet's coroutines wait for: events and sleeps.
#pragma once

#include "awaitable.hpp"
#include "coroutine_host.hpp"
#include "executor.hpp"
#include "waiting.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>

#include <concepts>
#include <memory>
#include <tuple>
#include <utility>

namespace quintet {
namespace detail {

/// A wait in progress. The loop's thread owns it, and destroys it when it has called the handler.
template <class Handler>
class asio_wait final : private coroutine_host, private loop_member, private work_item {
 public:
  asio_wait(event_loop& loop, Handler&& handler)
      : coroutine_host(loop, heard_),
        work_item(&asio_wait::start),
        work_(track_executor_of(handler, loop)),
        handler_(std::move(handler)) {}
  ~asio_wait() override = default;

  /// [any thread] Throws std::bad_alloc.
  template <class Operation>
  static void begin(event_loop& loop, std::tuple<Operation> what, Handler handler) {
    auto slot = boost::asio::get_associated_cancellation_slot(handler);
    const auto made = std::make_shared<asio_wait>(loop, std::move(handler));
    made->root_ = wait(*made, std::move(what));
    if (slot.is_connected()) slot.template emplace<canceller>(made);
    made->self_ = made;
    loop.in_this_thread() ? start(*made) : loop.post(static_cast<work_item&>(*made));
  }

 private:
  // The slot keeps it until its next operation, and may be used on the thread of the handler: the wait may have ended.
  struct canceller {
    explicit canceller(const std::weak_ptr<asio_wait>& which) noexcept : waiting(which) {}
    void operator()(boost::asio::cancellation_type type) const {
      const auto one = type == boost::asio::cancellation_type::none ? nullptr : waiting.lock();
      if (one) loop_executor(one->host_loop()).execute([one] { one->abort(); });
    }
    std::weak_ptr<asio_wait> waiting;
  };

  template <class Operation>
  static awaitable<> wait(asio_wait& self, std::tuple<Operation> what) {
    const error_code why = co_await std::get<0>(std::move(what));
    self.complete_soon(why.failed());
  }
  static void start(work_item& item) noexcept {
    auto& self = static_cast<asio_wait&>(item);
    event_loop& loop = self.host_loop();
    if (loop_executor_access::is_destroyed(loop)) return self.self_.reset();  // as its executor does with functions
    loop.join(self);
    if (loop.stopping()) return self.complete_soon(true);
    self.root_.start(self);
  }
  // The frame of root_ is not destroyed while it runs, and the handler never runs within begin().
  void complete_soon(bool is_cancelled) noexcept {
    is_cancelled_ = is_cancelled;
    become(&asio_wait::finish);
    host_loop().run_soon(*this);
  }
  static void finish(work_item& item) noexcept {
    auto& self = static_cast<asio_wait&>(item);
    event_loop& loop = self.host_loop();
    loop.leave(self);
    const std::shared_ptr<asio_wait> last = std::move(self.self_);
    const error_code why = self.is_cancelled_ ? boost::asio::error::operation_aborted : error_code();
    const auto call = [&] { call_where_it_belongs(loop, std::move(self.handler_), why); };
    call_executed(loop, call);
  }
  void abort() noexcept override {
    heard_.tell(cancel_reason::cancelled);
    cancel_operations();
  }

  cancel_state heard_;
  awaitable<> root_;
  tracking_executor_of<Handler> work_;
  Handler handler_;
  std::shared_ptr<asio_wait> self_;  // until the handler is called
  bool is_cancelled_ = false;
};

}  // namespace detail

/// [any thread] `co_await quintet::async_wait(s.get_executor(), committed, boost::asio::use_awaitable)`: waits on the
/// loop for an `event`, which must live as long, or for sleep_for() or sleep_until() on the loop's clock. Any
/// completion token of Asio will do, for any executor. Completes with void(error_code), never within this call: no
/// error, or operation_aborted once it was cancelled, by the token's cancellation slot or because the loop stops. An
/// exception of the completion counts in `handler_errors`. Allocates; throws std::bad_alloc.
template <class Operation, class Token>
  requires std::same_as<Operation, event&> || std::same_as<Operation, sleep_operation>
auto async_wait(const loop_executor& on, Operation&& what, Token&& token) {
  return boost::asio::async_initiate<Token, void(error_code)>(
      [&loop = on.loop()](auto handler, std::tuple<Operation> which) {
        detail::asio_wait<decltype(handler)>::begin(loop, std::move(which), std::move(handler));
      },
      token, std::tuple<Operation>(std::forward<Operation>(what)));
}

}  // namespace quintet
