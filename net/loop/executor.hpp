// SPDX-License-Identifier: BSL-1.0
// executor: the Asio executor of an event_loop. Handlers bound to it run on the loop's thread.
#pragma once

#include "asio_guest.hpp"
#include "event_loop.hpp"

#include <boost/asio/execution/executor.hpp>
#include <boost/asio/is_executor.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>

#include <type_traits>
#include <utility>

namespace quintet {

class loop_executor_access {
 public:
  static asio_guest& guest(event_loop& loop) { return loop.guest(); }
  static void wake(event_loop& loop) noexcept { loop.wake_for_guest(); }
};

/// The io_context's executor, which also wakes the loop when work comes from another thread: the loop may sleep outside
/// the io_context. (Like asio::strand, it forwards properties to the inner executor.)
template <class Inner>
class basic_loop_executor {
 public:
  /// `inner`: the executor of the loop's io_context.
  basic_loop_executor(event_loop& loop, Inner inner) noexcept : loop_(&loop), inner_(std::move(inner)) {}

  /// Returns the loop on which it runs functions.
  [[nodiscard]] event_loop& loop() const noexcept { return *loop_; }

  /// [any thread] Runs the function on the loop, as Asio's executors do.
  template <class F>
  void execute(F&& f) const {
    inner_.execute(std::forward<F>(f));
    if (!loop_->in_this_thread()) loop_executor_access::wake(*loop_);
  }

  /// Properties are those of the inner executor.
  template <class P>
    requires boost::asio::can_query<const Inner&, P>::value
  decltype(auto) query(const P& p) const {
    return boost::asio::query(inner_, p);
  }
  template <class P>
    requires boost::asio::can_require<const Inner&, P>::value
  auto require(const P& p) const {
    return with(boost::asio::require(inner_, p));
  }
  template <class P>
    requires boost::asio::can_prefer<const Inner&, P>::value
  auto prefer(const P& p) const {
    return with(boost::asio::prefer(inner_, p));
  }

  /// Compare loop and inner executor.
  friend bool operator==(const basic_loop_executor& a, const basic_loop_executor& b) noexcept {
    return a.loop_ == b.loop_ && a.inner_ == b.inner_;
  }
  friend bool operator!=(const basic_loop_executor& a, const basic_loop_executor& b) noexcept { return !(a == b); }

 private:
  template <class Other>
  basic_loop_executor<std::decay_t<Other>> with(Other&& other) const {
    return {*loop_, std::forward<Other>(other)};
  }
  event_loop* loop_;
  Inner inner_;
};

/// A class, not an alias, so that <quintet/net/event_loop.hpp> can declare it without including Asio.
class loop_executor : public basic_loop_executor<boost::asio::io_context::executor_type> {
 public:
  using basic_loop_executor::basic_loop_executor;
};

}  // namespace quintet
