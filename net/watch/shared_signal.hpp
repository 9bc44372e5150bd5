// SPDX-License-Identifier: BSL-1.0
// shared_signal: a signal of the process that several may use: each takes what is meant for it, and passes on the rest.
#pragma once

#include <atomic>
#include <mutex>

#include <pthread.h>
#include <signal.h>

namespace quintet {

/// One use of a signal, for the rest of the process's life: an object of static storage. Each use has a signal of its
/// own.
class shared_signal {
 public:
  /// Called on a thread that gets the signal and has a target. It must be async-signal-safe, and says whether the
  /// signal was meant for its target; if not, whoever had the signal before gets it: the program, or another copy of
  /// this library in another shared object, whose threads use the same signal.
  using taker = bool (*)(void* target, siginfo_t& info, void* context) noexcept;

  /// `flags`: of sigaction(2), such as SA_RESTART.
  constexpr explicit shared_signal(taker take, int flags = 0) noexcept : take_(take), flags_(flags) {}
  shared_signal(const shared_signal&) = delete;
  shared_signal& operator=(const shared_signal&) = delete;

  /// [any thread] From now on the signal is taken; the object that this code is in is not unloaded any more. Whoever
  /// comes later waits for the first. Throws std::system_error where the process has no thread-specific data left
  /// (PTHREAD_KEYS_MAX).
  void use(int signal) { std::call_once(installed_, &shared_signal::install, this, signal); }
  /// [any thread] What the taker is given on the calling thread from now on; nothing: signals here are for others.
  /// After use(). False: no memory, and nothing has changed.
  bool set_target(void* target) noexcept { return ::pthread_setspecific(targets_, target) == 0; }
  /// [any thread] Lets the signal reach the calling thread, whatever signal mask the thread has inherited. After use().
  void unblock() const noexcept;

 private:
  void install(int signal);
  void pass_on(int signal, siginfo_t* info, void* context) const;
  static void on_signal(int signal, siginfo_t* info, void* context);

  const taker take_;
  const int flags_;
  int signal_ = 0;  // written by install()
  std::once_flag installed_;
  // Not a thread_local, which costs an allocation where a thread first looks at it, if this code is in an object that
  // was opened by dlopen; and that may be in the handler, in the middle of an allocation.
  pthread_key_t targets_{};
  struct sigaction previous_{};
  std::atomic<bool> ready_{false};  // previous_ may be read
};

}  // namespace quintet
