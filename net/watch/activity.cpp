// SPDX-License-Identifier: BSL-1.0
// activity: writes a thread's record, and asks the thread for a snapshot by a signal.
#include "activity.hpp"

#include "shared_signal.hpp"
#include "thread_name.hpp"

#include <execinfo.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <new>
#include <thread>

namespace quintet {
namespace {

constexpr std::chrono::microseconds poll_interval{100};

/// Its address marks the signals of this copy of the library.
constinit char mark = 0;

/// The signal that asks a thread. Unlike SIGURG it is rarely used by others. With SA_RESTART, interrupted system calls
/// go on where the kernel can restart them.
int snapshot_signal_number() noexcept { return SIGRTMAX - 3; }

/// Returns the program counter of the interrupted thread; 0 if it is unknown for this kind of CPU.
std::uintptr_t interrupted_at([[maybe_unused]] const void* context) noexcept {
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return static_cast<std::uintptr_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.pc);
#else
  return 0;
#endif
}

}  // namespace

constinit shared_signal activity::snapshot_signal(&activity::on_signal, static_cast<int>(SA_RESTART));

/// Keeps the thread's activity until the thread ends.
struct activity::keeper {
  std::shared_ptr<activity> kept;
  keeper() = default;
  keeper(const keeper&) = delete;
  keeper& operator=(const keeper&) = delete;
  ~keeper() {
    if (!kept) return;
    current_activity = nullptr;
    (void)snapshot_signal.set_target(nullptr);
    const std::lock_guard lock(kept->mutex_);
    kept->ended_ = true;
  }
};

activity::activity() noexcept : thread_(::pthread_self()) {}

std::shared_ptr<activity> activity::of_this_thread() noexcept {
  thread_local keeper mine;
  if (mine.kept) return mine.kept;
  try {
    snapshot_signal.use(snapshot_signal_number());
    std::array<void*, 2> any{};
    (void)::backtrace(any.data(), any.size());  // the first call loads a library, which a signal handler must not do
    std::shared_ptr<activity> fresh(new activity);
    if (!snapshot_signal.set_target(fresh.get())) return nullptr;
    mine.kept = std::move(fresh);
  } catch (const std::exception&) {
    return nullptr;
  }
  current_activity = mine.kept.get();
  return mine.kept;
}

activity::answer activity::ask(std::uint64_t number, duration patience, snapshot& to) {
  const std::lock_guard one_at_a_time(ask_mutex_);  // the thread has one request and one snapshot for all watchdogs
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return answer::call_ended;
    requested_call_ = number;
    request_.store(request::made, std::memory_order_release);
    if (::pthread_sigqueue(thread_, snapshot_signal_number(), {.sival_ptr = &mark}) != 0) {
      request_.store(request::none, std::memory_order_relaxed);
      return answer::none;
    }
  }
  const time_point deadline = clock::system().now() + patience;
  for (;;) {
    request now = request_.load(std::memory_order_acquire);
    if (now == request::answered || now == request::call_ended) {
      if (now == request::answered) to = snapshot_;
      request_.store(request::none, std::memory_order_relaxed);
      return now == request::answered ? answer::given : answer::call_ended;
    }
    // No timeout while the thread answers: the answer waits for nothing.
    if (clock::system().now() >= deadline && now == request::made &&
        request_.compare_exchange_strong(now, request::none))
      return answer::none;
    std::this_thread::sleep_for(poll_interval);
  }
}

// In a signal handler. Returns whether ask() has sent the signal.
bool activity::on_signal(void* target, siginfo_t& info, void* context) noexcept {
  if (info.si_code != SI_QUEUE || info.si_value.sival_ptr != &mark) return false;
  auto& self = *static_cast<activity*>(target);
  request expected = request::made;
  if (!self.request_.compare_exchange_strong(expected, request::taken)) return true;  // ask() has timed out
  const int saved = errno;
  const callback_scope* const in = self.innermost_scope_.load(std::memory_order_relaxed);
  const bool still_in_it = in && in->number_ == self.requested_call_;
  if (still_in_it) self.take_snapshot(*in, context);
  self.request_.store(still_in_it ? request::answered : request::call_ended, std::memory_order_release);
  errno = saved;
  return true;
}

// In a signal handler. The thread owns the connection of the id during the call, so the id can be read.
void activity::take_snapshot(const callback_scope& of, void* context) noexcept {
  snapshot& s = snapshot_;
  s.what = of.what_;
  s.id = of.id_ ? *of.id_ : connection_id();
  s.type = of.type_;
  s.end = ::backtrace(s.addresses.data(), static_cast<int>(s.addresses.size()));
  const auto last = s.addresses.begin() + s.end;
  const auto first = std::find_if(s.addresses.begin(), last, [at = interrupted_at(context)](const void* a) {
    return reinterpret_cast<std::uintptr_t>(a) == at;
  });
  s.begin = first == last ? 0 : static_cast<int>(first - s.addresses.begin());
}

std::string activity::thread_name() const {
  const std::lock_guard lock(mutex_);
  return ended_ ? std::string() : name_of_thread(thread_);
}

bool activity::has_ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

}  // namespace quintet
