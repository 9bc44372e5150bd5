// SPDX-License-Identifier: BSL-1.0
// wake_signal: the handler, and what was there before it.
#include <quintet/net/wake_signal.hpp>

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <csignal>
#include <mutex>
#include <system_error>

namespace quintet {
namespace {

bool (*taker)(void*) noexcept = nullptr;
// Not a thread_local, which costs an allocation where a thread first looks at it, if this code is in an object that was
// opened by dlopen; and that may be in the handler, in the middle of an allocation.
pthread_key_t targets{};
struct sigaction previous{};
constinit std::atomic<bool> ready{false};  // previous may be read

void pass_on(int signal, siginfo_t* info, void* context) {
  // Another thread is in the middle of installing this; never the same one, which has blocked the signal.
  while (!ready.load(std::memory_order_acquire)) ::sched_yield();
  if ((previous.sa_flags & static_cast<int>(SA_SIGINFO)) != 0) return previous.sa_sigaction(signal, info, context);
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) previous.sa_handler(signal);
}

void on_signal(int signal, siginfo_t* info, void* context) {
  void* const target = ::pthread_getspecific(targets);
  if (!target || !taker(target)) pass_on(signal, info, context);
}

// A handler cannot be taken back: another may have been installed over it, and pass signals on to it.
void keep_loaded() noexcept {
  Dl_info here{};
  if (::dladdr(reinterpret_cast<void*>(&on_signal), &here) != 0 && here.dli_fname)
    (void)::dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);  // in vain for the program itself
}

void install(int signal, bool (*take)(void*) noexcept) {
  if (const int failed = ::pthread_key_create(&targets, nullptr); failed != 0)
    throw std::system_error(failed, std::generic_category(), "pthread_key_create");
  keep_loaded();
  taker = take;
  struct sigaction action{};
  action.sa_sigaction = &on_signal;
  action.sa_flags = static_cast<int>(SA_SIGINFO);  // no SA_RESTART: ending a call is what the signal is for
  sigemptyset(&action.sa_mask);
  sigset_t just_this{}, before{};
  sigemptyset(&just_this);
  sigaddset(&just_this, signal);
  ::pthread_sigmask(SIG_BLOCK, &just_this, &before);
  ::sigaction(signal, &action, &previous);
  ready.store(true, std::memory_order_release);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

void use_wake_signal(int signal, bool (*take)(void*) noexcept) {
  static std::once_flag installed;
  std::call_once(installed, &install, signal, take);
}

bool wake_target(void* target) noexcept { return ::pthread_setspecific(targets, target) == 0; }

}  // namespace quintet
