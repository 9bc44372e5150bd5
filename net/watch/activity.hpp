// SPDX-License-Identifier: BSL-1.0
// activity: which function of the program's a thread is in, written by the thread itself and looked at by a watchdog.
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
#include <typeinfo>

#include <pthread.h>
#include <signal.h>

namespace quintet {

class shared_signal;

/// What the library calls of a program's.
enum class callback : std::uint8_t {
  input,
  on_open,
  on_writable,
  on_read_eof,
  on_drain,
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
                                        {callback::on_close, "on_close"},
                                        {callback::coroutine, "coroutine"},
                                        {callback::offloaded, "offloaded work"},
                                        {callback::message, "a posted call"},
                                        {callback::timer, "a timer"},
                                        {callback::posted, "posted work"},
                                        {callback::when_sent, "when_sent"}});

/// A thread that a watchdog has once been interested in has one until it ends; the others have none, and what is said
/// of them here costs them a look. Times are taken by who looks, not by who works: all that a thread does for each call
/// is to write down its number.
class activity {
  struct job {
    std::uint64_t number = 0;  // of all that the thread has had; 0: it is in none
    callback what{};
    const connection_id* whose = nullptr;
    const std::type_info* type = nullptr;
  };

 public:
  /// [any thread] The calling thread's; made where there is none. Nothing, where there is no memory for it.
  static std::shared_ptr<activity> of_this_thread() noexcept;

  /// While it lives, its thread is in that callback. They nest. `whose` and `type` (of what is called) live at
  /// least as long.
  class scope {
   public:
    explicit scope(callback what, const connection_id* whose = nullptr, const std::type_info* type = nullptr) noexcept
        : of_(here) {
      if (of_) [[unlikely]]
        outer_ = of_->begin({0, what, whose, type});
    }
    ~scope() {
      if (of_) [[unlikely]]
        of_->become(outer_);
    }
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;

   private:
    activity* const of_;
    job outer_;
  };

  /// What a thread was in when it was asked.
  struct snapshot {
    callback what{};
    connection_id whose;
    const std::type_info* type = nullptr;
    std::array<void*, 64> addresses{};  // of its stack, innermost first
    int begin = 0, end = 0;             // of those that are its own, and not of the asking
    [[nodiscard]] std::span<void* const> stack() const noexcept {
      return std::span(addresses).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
    }
  };

  /// [any thread] The number of the call that the thread is in; 0: none. One that has a number now and the same one
  /// later has been in that call all the while, or in one within it.
  [[nodiscard]] std::uint64_t now() const noexcept { return now_.load(std::memory_order_relaxed); }
  enum class answer : std::uint8_t {
    none,  ///< it did not answer in time: it has blocked the signal, or the kernel does not let it go
    over,  ///< it is not in that call any more
    given,
  };
  /// [one watchdog at a time] Asks the thread by a signal, if it is still in the call of that number.
  answer ask(std::uint64_t number, duration patience, snapshot& to);
  /// [any thread] As ps shows it. Empty: the thread has ended.
  [[nodiscard]] std::string thread_name() const;
  /// [any thread]
  [[nodiscard]] bool has_ended() const;

  /// [its thread] Who has last made sure of knowing this thread; see stall_watchdog.
  std::uint64_t known_to = 0;
  /// The calling thread's, or nothing.
  [[nodiscard]] static activity* current() noexcept { return here; }

 private:
  struct keeper;
  enum class request : std::uint8_t { none, made, taken, answered, over };

  activity() noexcept;
  job begin(const job& fresh) noexcept;
  void become(const job& j) noexcept;
  static bool on_signal(void* target, siginfo_t& info, void* context) noexcept;
  void take_snapshot(void* context) noexcept;

  static inline constinit thread_local activity* here = nullptr;
  static shared_signal asks;

  std::atomic<std::uint64_t> now_{0};  // job_.number while job_ can be read by a signal handler, else 0
  job job_{};
  std::uint64_t numbers_ = 0;
  std::atomic<request> request_{request::none};
  std::uint64_t asked_for_ = 0;
  snapshot snapshot_;
  mutable std::mutex mutex_;  // over the thread's end
  const pthread_t thread_;
  bool ended_ = false;
};

}  // namespace quintet
