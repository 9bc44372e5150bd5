// SPDX-License-Identifier: BSL-1.0
// shared_signal: installs the handler, and passes signals on to the previous one.
#include "shared_signal.hpp"

#include <dlfcn.h>
#include <sched.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <system_error>

namespace quintet {
namespace {

constinit std::array<std::atomic<shared_signal*>, _NSIG> uses{};

// A handler cannot be removed: a handler installed later may pass signals on to it.
void keep_loaded(const void* code) noexcept {
  Dl_info here{};
  if (::dladdr(code, &here) != 0 && here.dli_fname)
    (void)::dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);  // fails harmlessly for the program itself
}

}  // namespace

void shared_signal::forward(int signal, siginfo_t* info, void* context) const {
  // Another thread is installing this handler. It cannot be the same thread, which blocks the signal meanwhile.
  while (!ready_.load(std::memory_order_acquire)) ::sched_yield();
  if ((previous_.sa_flags & static_cast<int>(SA_SIGINFO)) != 0) return previous_.sa_sigaction(signal, info, context);
  if (previous_.sa_handler != SIG_DFL && previous_.sa_handler != SIG_IGN) previous_.sa_handler(signal);
}

void shared_signal::on_signal(int signal, siginfo_t* info, void* context) {
  const shared_signal& self = *uses[static_cast<std::size_t>(signal)].load(std::memory_order_acquire);
  void* const target = ::pthread_getspecific(self.targets_);
  if (!target || !self.handler_(target, *info, context)) self.forward(signal, info, context);
}

void shared_signal::unblock() const noexcept {
  sigset_t just_this{};
  sigemptyset(&just_this);
  sigaddset(&just_this, signal_);
  ::pthread_sigmask(SIG_UNBLOCK, &just_this, nullptr);
}

void shared_signal::install(int signal) {
  signal_ = signal;
  if (const int no_key = ::pthread_key_create(&targets_, nullptr); no_key != 0)
    throw std::system_error(no_key, std::generic_category(), "pthread_key_create");
  keep_loaded(reinterpret_cast<const void*>(&shared_signal::on_signal));
  uses[static_cast<std::size_t>(signal)].store(this, std::memory_order_release);
  struct sigaction action{};
  action.sa_sigaction = &shared_signal::on_signal;
  action.sa_flags = static_cast<int>(SA_SIGINFO) | flags_;
  sigemptyset(&action.sa_mask);
  sigset_t just_this{}, before{};
  sigemptyset(&just_this);
  sigaddset(&just_this, signal);
  ::pthread_sigmask(SIG_BLOCK, &just_this, &before);
  const int failed = ::sigaction(signal, &action, &previous_) == 0 ? 0 : errno;
  if (failed == 0) ready_.store(true, std::memory_order_release);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (failed != 0) throw std::system_error(failed, std::generic_category(), "sigaction");
}

}  // namespace quintet
