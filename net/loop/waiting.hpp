// SPDX-License-Identifier: BSL-1.0
// waiting: what a coroutine awaits in its loop's time: a duration, a point in time, or an event that any thread sets.
#pragma once

#include "../../base/error.hpp"
#include "../../base/work/timer_queue.hpp"
#include "../../base/work/work_item.hpp"
#include "awaitable.hpp"
#include "coroutine_host.hpp"

#include <boost/intrusive/list.hpp>

#include <coroutine>
#include <mutex>

namespace quintet {

class event;

/// Result of sleep_for() and sleep_until(), for co_await.
struct sleep_operation {
  duration time;     ///< counted from the co_await
  time_point until;  ///< of the loop's clock; time_point::max(): `time` counts
};

/// [loop] `co_await quintet::sleep_for(10ms)`, in a coroutine handler or in a coroutine that it awaits: waits by a
/// timer of the loop, on the loop's clock, which a simulation can drive. Returns no error after that time, or
/// error_of() the reason why it was cancelled. No system call beside the loop's own wait; never allocates.
[[nodiscard]] inline sleep_operation sleep_for(duration time) noexcept { return {time, time_point::max()}; }
/// [loop] The same until a time of the loop's clock. A time in the past returns in the loop's next turn.
[[nodiscard]] inline sleep_operation sleep_until(time_point when) noexcept { return {{}, when}; }

namespace detail {

/// The awaiter of a sleep.
class sleeper final : private cancellable, private timer {
 public:
  sleeper(coroutine_host& host, const sleep_operation& what) noexcept : host_(host), what_(what) {}
  ~sleeper() override = default;

  static constexpr bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiting) noexcept;
  [[nodiscard]] error_code await_resume() const noexcept { return failed_; }

 private:
  void cancel() noexcept override;
  void expired() noexcept override { host_.resume(waiting_); }

  coroutine_host& host_;
  const sleep_operation what_;
  std::coroutine_handle<> waiting_;
  error_code failed_;
};

/// The awaiter of an event.
class event_waiter final : private cancellable, private work_item {
 public:
  event_waiter(coroutine_host& host, event& on) noexcept : work_item(&event_waiter::resume), host_(host), event_(on) {}

  static constexpr bool await_ready() noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> waiting) noexcept;
  [[nodiscard]] error_code await_resume() const noexcept { return failed_; }

 private:
  friend event;
  using hook = boost::intrusive::list_member_hook<>;
  void cancel() noexcept override;
  static void resume(work_item& item) noexcept;

  coroutine_host& host_;
  event& event_;
  std::coroutine_handle<> waiting_;
  error_code failed_;
  hook place_;  // in the event's list, under its lock

 public:
  using list =
      boost::intrusive::list<event_waiter, boost::intrusive::member_hook<event_waiter, hook, &event_waiter::place_>,
                             boost::intrusive::constant_time_size<false>>;
};

}  // namespace detail

/// A flag that coroutines of any loop can wait for: lock waits, group commit, notifications. Never allocates.
///
///     quintet::event committed;
///     const quintet::error_code why = co_await committed;  // no error: it is set
///
/// The event stays set until clear(). A coroutine that set() has woken may destroy it; nobody else may still wait.
class event {
 public:
  event() noexcept = default;
  event(const event&) = delete;
  event& operator=(const event&) = delete;

  /// [any thread] Sets the event, and wakes all that wait; each resumes on its own loop.
  void set() noexcept;
  /// [any thread] From now on coroutines wait again. Those that set() has woken resume all the same.
  void clear() noexcept {
    const std::lock_guard lock(mutex_);
    is_set_ = false;
  }
  /// [any thread]
  [[nodiscard]] bool is_set() const noexcept {
    const std::lock_guard lock(mutex_);
    return is_set_;
  }

 private:
  friend detail::event_waiter;
  mutable std::mutex mutex_;
  bool is_set_ = false;
  detail::event_waiter::list waiting_;
};

template <>
struct await_adapter<sleep_operation> {
  static auto adapt(const sleep_operation& what, coroutine_host& host) noexcept { return detail::sleeper(host, what); }
};
template <>
struct await_adapter<event> {
  static auto adapt(event& on, coroutine_host& host) noexcept { return detail::event_waiter(host, on); }
};

}  // namespace quintet
