// SPDX-License-Identifier: BSL-1.0
// coroutine_host: the owner of a chain of coroutines: its loop, its operations in progress, and their deadlines.
#pragma once

#include "../watch/activity.hpp"
#include "cancellation.hpp"
#include "event_loop.hpp"

#include <boost/intrusive/list.hpp>

#include <coroutine>
#include <utility>

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

class deadline_guard;

class coroutine_host {
 public:
  /// `heard`: what cancels the operations. It must outlive the host.
  coroutine_host(event_loop& loop, cancel_state& heard) noexcept : host_loop_(loop), reasons_(heard) {}
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
    if (reasons_.is_cancelled()) return reasons_.why();
    return host_loop_.stopping() ? cancel_reason::stopped : cancel_reason::none;
  }
  /// [loop] Notes an operation that begins. Returns true if it is cancelled already: once it has started, its awaiter
  /// must do what cancel() does. A coroutine may begin its next operation in reply to a cancelled one, without end.
  [[nodiscard]] bool add(cancellable& operation) noexcept {
    operations_.push_back(operation);
    return cancelled() != cancel_reason::none;
  }
  /// [loop] Returns whether the time of a deadline for reads has passed.
  [[nodiscard]] bool reads_have_expired() const noexcept { return innermost_ && has_passed(true); }
  /// [loop] Cancels the operations in progress.
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
  virtual ~coroutine_host() = default;
  /// [loop] Resumes the coroutine, and records for the watchdog that this thread is in it.
  virtual void resume_watched(std::coroutine_handle<> waiting) noexcept {
    const callback_scope scope(callback::coroutine);
    waiting.resume();
  }

 private:
  [[nodiscard]] bool has_passed(bool of_reads) const noexcept;
  using operation_list = boost::intrusive::list<cancellable, boost::intrusive::constant_time_size<false>>;
  event_loop& host_loop_;
  friend class deadline_guard;
  /// [loop] The time of a deadline has passed: for reads, or for what cancel_operations() cancels.
  virtual void deadline_passed(bool of_reads) noexcept {
    if (!of_reads) cancel_operations();
  }
  cancel_state& reasons_;
  operation_list operations_;
  deadline_guard* innermost_ = nullptr;
};

/// Result of stream::with_deadline() and with_read_deadline(). [baton] A local variable of a coroutine. At its time,
/// what the coroutine awaits is cancelled, or its read returns, and what it begins to await while the guard lives.
/// Guards may be nested.
class [[nodiscard]] deadline_guard final : private timer {
 public:
  /// [loop]
  deadline_guard(coroutine_host& host, time_point at, bool of_reads) noexcept
      : host_(host), outer_(std::exchange(host.innermost_, this)), of_reads_(of_reads) {
    if (at == time_point::max()) return;  // never
    const duration left = between(host.host_loop_.now(), at);
    if (left > duration{})
      host.host_loop_.start(*this, left);
    else
      deadline_guard::expired();
  }
  ~deadline_guard() override;
  deadline_guard(const deadline_guard&) = delete;
  deadline_guard& operator=(const deadline_guard&) = delete;

  /// [loop] Returns whether the time has passed.
  [[nodiscard]] bool has_passed() const noexcept { return has_passed_; }

 private:
  friend class coroutine_host;
  void expired() noexcept override {
    has_passed_ = true;
    if (of_reads_) return host_.deadline_passed(true);
    host_.reasons_.tell(cancel_reason::deadline);
    if (host_.reasons_.is_cancelled()) host_.deadline_passed(false);
  }
  coroutine_host& host_;
  deadline_guard* const outer_;
  const bool of_reads_;
  bool has_passed_ = false;
};

inline bool coroutine_host::has_passed(bool of_reads) const noexcept {
  for (const deadline_guard* g = innermost_; g; g = g->outer_)
    if (g->of_reads_ == of_reads && g->has_passed_) return true;
  return false;
}

// The reason lasts as long as a guard whose time has passed.
inline deadline_guard::~deadline_guard() {
  host_.innermost_ = outer_;
  if (has_passed_ && !of_reads_ && !host_.has_passed(false)) host_.reasons_.take_back(cancel_reason::deadline);
}

}  // namespace quintet
