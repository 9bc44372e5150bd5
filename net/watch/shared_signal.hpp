// SPDX-License-Identifier: BSL-1.0
// shared_signal: shares a signal with other users: each takes the signals meant for it, and passes on the rest.
#pragma once

#include <atomic>
#include <mutex>

#include <pthread.h>
#include <signal.h>

namespace quintet {

/// Handles one signal for the rest of the process's life. Must have static storage. Each object needs its own signal.
class shared_signal {
 public:
  /// Called on a thread that gets the signal and has a target. Must be async-signal-safe. Returns whether the signal
  /// was meant for the target. Otherwise the previous handler gets it: the program's, or that of another copy of this
  /// library, whose threads use the same signal.
  using handler_function = bool (*)(void* target, siginfo_t& info, void* context) noexcept;

  /// `flags`: of sigaction(2), such as SA_RESTART.
  constexpr explicit shared_signal(handler_function handler, int flags = 0) noexcept
      : handler_(handler), flags_(flags) {}
  shared_signal(const shared_signal&) = delete;
  shared_signal& operator=(const shared_signal&) = delete;

  /// [any thread] Installs the handler, once. Later callers wait for the first. The shared object that contains this
  /// code is never unloaded afterwards. Throws std::system_error if no thread-specific key is left (PTHREAD_KEYS_MAX).
  void use(int signal) { std::call_once(installed_, &shared_signal::install, this, signal); }
  /// [any thread] Sets the handler's target on the calling thread; nullptr: signals on this thread are passed on. Call
  /// use() first. Returns false if there is no memory; then nothing has changed.
  bool set_target(void* target) noexcept { return ::pthread_setspecific(targets_, target) == 0; }
  /// [any thread] Unblocks the signal on the calling thread, whatever mask the thread inherited. Call use() first.
  void unblock() const noexcept;

 private:
  void install(int signal);
  void forward(int signal, siginfo_t* info, void* context) const;
  static void on_signal(int signal, siginfo_t* info, void* context);

  const handler_function handler_;
  const int flags_;
  int signal_ = 0;  // written by install()
  std::once_flag installed_;
  // Not a thread_local: if dlopen() has loaded this code, its first use on a thread allocates. That use may be in the
  // handler, which may have interrupted an allocation.
  pthread_key_t targets_{};
  struct sigaction previous_{};
  std::atomic<bool> ready_{false};  // previous_ may be read
};

}  // namespace quintet
