// SPDX-License-Identifier: BSL-1.0
// coroutine_host: the owner of a chain of coroutines: its loop, and its operations to cancel when that loop stops.
#pragma once

#include "../watch/activity.hpp"
#include "event_loop.hpp"

#include <boost/intrusive/list.hpp>

#include <coroutine>

namespace quintet {

/// An operation that a coroutine waits for and that can be cancelled. Leaves its list when it is destroyed.
class cancellable
    : public boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  /// [loop] Asks the operation to complete soon, usually with an error. It must not complete within this call.
  virtual void cancel() noexcept = 0;

 protected:
  ~cancellable() = default;
};

class coroutine_host {
 public:
  explicit coroutine_host(event_loop& loop) noexcept : host_loop_(loop) {}
  coroutine_host(const coroutine_host&) = delete;
  coroutine_host& operator=(const coroutine_host&) = delete;

  // All functions: [loop].
  [[nodiscard]] event_loop& host_loop() const noexcept { return host_loop_; }
  /// [loop] Resumes the coroutine, which runs until it waits again.
  void resume(std::coroutine_handle<> waiting) noexcept {
    if (activity::current()) [[unlikely]]
      return resume_watched(waiting);
    waiting.resume();
  }
  void add(cancellable& operation) noexcept { operations_.push_back(operation); }
  void cancel_operations() noexcept {
    operation_list asked;
    asked.swap(operations_);
    while (!asked.empty()) {  // a cancellation may complete any other operation
      cancellable& next = asked.front();
      operations_.splice(operations_.end(), asked, asked.begin());
      next.cancel();
    }
  }

 protected:
  ~coroutine_host() = default;
  /// [loop] Resumes the coroutine, and records for the watchdog that this thread is in it.
  virtual void resume_watched(std::coroutine_handle<> waiting) noexcept {
    const callback_scope scope(callback::coroutine);
    waiting.resume();
  }

 private:
  using operation_list = boost::intrusive::list<cancellable, boost::intrusive::constant_time_size<false>>;
  event_loop& host_loop_;
  operation_list operations_;
};

}  // namespace quintet
