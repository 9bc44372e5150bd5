// SPDX-License-Identifier: BSL-1.0
// coroutine_host: the owner of a chain of coroutines: its loop, its operations in progress, and why they are cancelled.
#pragma once

#include "../watch/activity.hpp"
#include "cancel_reason.hpp"
#include "event_loop.hpp"

#include <boost/intrusive/list.hpp>

#include <coroutine>

namespace quintet {

/// An operation that a coroutine waits for and that can be cancelled. Leaves its list when it is destroyed.
class cancellable
    : public boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  /// [loop] Asks the operation to complete soon, usually with an error. It must not complete within this call, and must
  /// tolerate a second one.
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
  /// [loop] Returns why operations are cancelled: those in progress and all that begin from now on.
  [[nodiscard]] cancel_reason cancelled() const noexcept {
    if (reason_ != cancel_reason::none) return reason_;
    return host_loop_.stopping() ? cancel_reason::stopped : cancel_reason::none;
  }
  /// [loop] Notes an operation that begins. Returns true if it is cancelled already: once it has started, its awaiter
  /// must do what cancel() does. A coroutine may begin its next operation in reply to a cancelled one, without end.
  [[nodiscard]] bool add(cancellable& operation) noexcept {
    operations_.push_back(operation);
    return cancelled() != cancel_reason::none;
  }
  /// [loop] Cancels the operations in progress, and all that begin later. The first reason counts.
  void cancel(cancel_reason why) noexcept {
    if (reason_ == cancel_reason::none) reason_ = why;
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
  cancel_reason reason_ = cancel_reason::none;
};

}  // namespace quintet
