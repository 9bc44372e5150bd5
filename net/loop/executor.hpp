// SPDX-License-Identifier: BSL-1.0
// executor: the Asio executor of an event_loop. Functions run on the loop's thread, and need no io_context.
#pragma once

#include "../../base/memory/frame_cache.hpp"
#include "../../base/work/work_item.hpp"
#include "../watch/activity.hpp"
#include "../watch/type_text.hpp"
#include "asio_guest.hpp"
#include "event_loop.hpp"
#include "loop_log.hpp"

#include <boost/asio/append.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution/executor.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/is_executor.hpp>
#include <boost/asio/prefer.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace quintet {

class loop_executor_access {
 public:
  static asio_guest& guest(event_loop& loop) { return loop.guest(); }
  /// [loop] Whether the loop is being destroyed: functions are destroyed without a call.
  static bool is_destroyed(const event_loop& loop) noexcept { return loop.is_destroyed_; }
};

namespace detail {

/// [loop] Calls a function of an executor. An exception is counted and logged, as one of a handler.
template <class F>
void call_executed(event_loop& loop, F& function) noexcept try {
  function();
} catch (...) {
  note_exception(loop);
}

/// A function that waits for its loop. Owns itself, and is destroyed before its call: the function may queue another.
template <class F>
class executed_function final : public work_item {
 public:
  template <class G>
  executed_function(event_loop& loop, G&& f)
      : work_item(&executed_function::run), loop_(loop), function_(std::forward<G>(f)) {}
  static void* operator new(std::size_t size) { return frame_cache::allocate(size); }
  static void operator delete(void* memory, std::size_t size) noexcept { frame_cache::release(memory, size); }

 private:
  static void run(work_item& item) noexcept {
    auto* const self = static_cast<executed_function*>(&item);
    event_loop& loop = self->loop_;
    F function(std::move(self->function_));
    delete self;
    if (loop_executor_access::is_destroyed(loop)) return;
    const callback_scope scope(callback::posted, nullptr, type_text<F>());
    call_executed(loop, function);
    loop.invalidate_now();  // it may have taken long
  }
  event_loop& loop_;
  F function_;
};

}  // namespace detail

/// Runs functions on the loop's thread: at once if the caller is there, unless `blocking.never` is required, as by
/// boost::asio::post(); else at the end of the turn, or when the loop has woken. It tracks no work, so a loop that ends
/// does not wait for functions. Only what asks for the execution context, as I/O objects do, makes the io_context.
class loop_executor {
 public:
  /// `loop` must outlive the functions.
  explicit loop_executor(event_loop& loop) noexcept : loop_(&loop) {}

  /// [any thread] Returns the loop on which it runs functions.
  [[nodiscard]] event_loop& loop() const noexcept { return *loop_; }

  /// [any thread] Runs the function on the loop, or destroys it if the loop is being destroyed. Exceptions of the
  /// function count in `handler_errors`. Allocates one node unless the function runs at once; throws std::bad_alloc.
  template <class F>
  void execute(F&& f) const {
    const bool is_here = loop_->in_this_thread();
    if (is_here && !never_blocks_) {
      std::decay_t<F> function(std::forward<F>(f));
      if (loop_executor_access::is_destroyed(*loop_)) [[unlikely]]
        return;
      return detail::call_executed(*loop_, function);
    }
    work_item& item = *new detail::executed_function<std::decay_t<F>>(*loop_, std::forward<F>(f));
    is_here ? loop_->run_soon(item) : loop_->post(item);
  }

  /// [any thread] Returns the loop's io_context; makes it at the first call.
  [[nodiscard]] boost::asio::execution_context& query(boost::asio::execution::context_t) const {
    return loop_executor_access::guest(*loop_).context();
  }
  /// [any thread] Return and change whether a function may run at once.
  [[nodiscard]] boost::asio::execution::blocking_t query(boost::asio::execution::blocking_t) const noexcept {
    if (never_blocks_) return boost::asio::execution::blocking.never;
    return boost::asio::execution::blocking.possibly;
  }
  [[nodiscard]] loop_executor require(boost::asio::execution::blocking_t::never_t) const noexcept {
    return {*loop_, true};
  }
  [[nodiscard]] loop_executor require(boost::asio::execution::blocking_t::possibly_t) const noexcept {
    return {*loop_, false};
  }

  /// Compare loop and properties.
  friend bool operator==(const loop_executor&, const loop_executor&) noexcept = default;

 private:
  loop_executor(event_loop& loop, bool never_blocks) noexcept : loop_(&loop), never_blocks_(never_blocks) {}
  event_loop* loop_;
  bool never_blocks_ = false;
};

namespace detail {

/// Returns whether functions of this executor run on the loop's thread, one after the other: then the loop calls them.
template <class Executor>
[[nodiscard]] bool runs_on(const Executor& executor, const event_loop& loop) noexcept {
  if constexpr (std::is_same_v<Executor, loop_executor>) {
    return &executor.loop() == &loop;
  } else if constexpr (requires { executor.template target<loop_executor>(); }) {
    const auto* const inner = executor.template target<loop_executor>();
    return inner && &inner->loop() == &loop;
  } else {
    return false;
  }
}

/// An executor that tells its context that a function will come.
template <class Executor>
using tracking_executor = std::decay_t<decltype(boost::asio::prefer(std::declval<const Executor&>(),
                                                                    boost::asio::execution::outstanding_work.tracked))>;

/// The tracking executor of a completion handler.
template <class Handler>
using tracking_executor_of = tracking_executor<boost::asio::associated_executor_t<Handler, loop_executor>>;
template <class Handler>
[[nodiscard]] tracking_executor_of<Handler> track_executor_of(const Handler& handler, event_loop& loop) {
  return boost::asio::prefer(boost::asio::get_associated_executor(handler, loop_executor(loop)),
                             boost::asio::execution::outstanding_work.tracked);
}

/// [loop] Calls a completion handler, or passes it to its executor. May throw.
template <class Handler, class... Results>
void call_where_it_belongs(event_loop& loop, Handler handler, Results... results) {
  const loop_executor here(loop);
  if (runs_on(boost::asio::get_associated_executor(handler, here), loop))
    return std::move(handler)(std::move(results)...);
  boost::asio::dispatch(here, boost::asio::append(std::move(handler), std::move(results)...));
}

}  // namespace detail
}  // namespace quintet
