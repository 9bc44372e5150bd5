// SPDX-License-Identifier: BSL-1.0
// activity: the callback that a thread is in, written by the thread and read by a watchdog.
#pragma once

#include "../../base/clock.hpp"
#include "../../base/enum_names.hpp"
#include "../names/connection_id.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include <pthread.h>
#include <signal.h>

namespace quintet {

class callback_scope;
class shared_signal;

/// The kinds of calls from the library into the program.
enum class callback : std::uint8_t {
  input,
  on_open,
  on_writable,
  on_read_eof,
  on_drain,
  on_limit,
  on_close,
  coroutine,  ///< from one suspension to the next
  offloaded,  ///< stream::offload()
  message,    ///< connection_registry::post()
  timer,      ///< event_loop::after() and every()
  posted,     ///< event_loop::post()
  when_sent,  ///< connection::when_sent()
};

template <>
inline constexpr auto enum_names<callback> =
    std::to_array<enum_name<callback>>({{callback::input, "input"},
                                        {callback::on_open, "on_open"},
                                        {callback::on_writable, "on_writable"},
                                        {callback::on_read_eof, "on_read_eof"},
                                        {callback::on_drain, "on_drain"},
                                        {callback::on_limit, "on_limit"},
                                        {callback::on_close, "on_close"},
                                        {callback::coroutine, "coroutine"},
                                        {callback::offloaded, "offloaded work"},
                                        {callback::message, "a posted call"},
                                        {callback::timer, "a timer"},
                                        {callback::posted, "posted work"},
                                        {callback::when_sent, "when_sent"}});

/// The record of the call that a thread is in. A thread gets one when a watchdog first watches it, and keeps it until
/// it ends. For other threads a scope costs one check. The watchdog measures times; the thread only writes a number for
/// each call.
class activity {
 public:
  /// [any thread] Returns the calling thread's activity, and makes it if there is none. Returns nullptr if that fails,
  /// as for lack of memory.
  static std::shared_ptr<activity> of_this_thread() noexcept;

  /// The call that a thread was in when it answered.
  struct snapshot {
    callback what{};
    connection_id id;
    const char* type = nullptr;
    std::array<void*, 64> addresses{};  // return addresses of its stack, innermost first
    int begin = 0, end = 0;             // the part that belongs to the call, not to the signal handler
    [[nodiscard]] std::span<void* const> stack() const noexcept {
      return std::span(addresses).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
    }
  };

  /// [any thread] Returns the number of the thread's current call; 0: none. If two reads return the same number, the
  /// thread was in that call, or in one nested in it, in between.
  [[nodiscard]] std::uint64_t current_call() const noexcept { return current_call_.load(std::memory_order_relaxed); }
  enum class answer : std::uint8_t {
    none,        ///< no answer in time: the thread blocks the signal, or the kernel does not interrupt it
    call_ended,  ///< the thread has left the call
    given,
  };
  /// [any thread] Asks the thread, by a signal, for a snapshot of the call with that number. Waits at most `patience`
  /// for the answer to begin, after the asks of other watchdogs have ended. Fills `to` if the answer is `given`.
  answer ask(std::uint64_t number, duration patience, snapshot& to);
  /// [any thread] Returns the thread's name as ps shows it. Empty if the thread has ended.
  [[nodiscard]] std::string thread_name() const;
  /// [any thread] Whether the thread has ended.
  [[nodiscard]] bool has_ended() const;

  /// [its thread] Number of the stall_watchdog that has last registered this thread.
  std::uint64_t watchdog_number = 0;
  /// [any thread] Returns the calling thread's activity, or nullptr.
  [[nodiscard]] static activity* current() noexcept { return current_activity; }

 private:
  friend class callback_scope;
  struct keeper;
  enum class request : std::uint8_t { none, made, taken, answered, call_ended };

  activity() noexcept;
  void become(const callback_scope* innermost, std::uint64_t number) noexcept;
  static bool on_signal(void* target, siginfo_t& info, void* context) noexcept;
  void take_snapshot(const callback_scope& of, void* context) noexcept;

  static inline constinit thread_local activity* current_activity = nullptr;
  static shared_signal snapshot_signal;

  std::atomic<std::uint64_t> current_call_{0};                   // number of the innermost scope; 0: none
  std::atomic<const callback_scope*> innermost_scope_{nullptr};  // for a signal handler on the same thread
  std::uint64_t numbers_ = 0;                                    // of calls so far
  std::mutex ask_mutex_;                                         // one ask() at a time; locked before mutex_
  std::atomic<request> request_{request::none};
  std::uint64_t requested_call_ = 0;
  snapshot snapshot_;
  mutable std::mutex mutex_;  // guards ended_ and the use of thread_
  const pthread_t thread_;
  bool ended_ = false;
};

/// Marks its thread as being in a callback. Scopes nest. `id` and `type` (type_text() of the callable) must outlive the
/// scope.
class callback_scope {
 public:
  explicit callback_scope(callback what, const connection_id* id = nullptr, const char* type = nullptr) noexcept
      : callback_scope(activity::current(), what, id, type) {}
  /// The same where the caller knows the activity of this thread. Null: marks nothing.
  callback_scope(activity* of, callback what, const connection_id* id, const char* type) noexcept : of_(of) {
    if (of_) [[unlikely]]
      begin(what, id, type);
  }
  ~callback_scope() {
    if (of_) [[unlikely]]
      of_->become(outer_, outer_ ? outer_->number_ : 0);
  }
  callback_scope(const callback_scope&) = delete;
  callback_scope& operator=(const callback_scope&) = delete;

 private:
  friend class activity;
  void begin(callback what, const connection_id* id, const char* type) noexcept {
    number_ = ++of_->numbers_;
    what_ = what;
    id_ = id;
    type_ = type;
    outer_ = of_->innermost_scope_.load(std::memory_order_relaxed);
    of_->become(this, number_);
  }

  // The others are set only with an activity: a scope that marks nothing costs one check.
  activity* const of_;
  const callback_scope* outer_;
  std::uint64_t number_;
  const connection_id* id_;
  const char* type_;
  callback what_;
};

// A signal handler on the same thread sees only whole scopes.
inline void activity::become(const callback_scope* innermost, std::uint64_t number) noexcept {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  innermost_scope_.store(innermost, std::memory_order_relaxed);
  current_call_.store(number, std::memory_order_relaxed);
}

}  // namespace quintet
