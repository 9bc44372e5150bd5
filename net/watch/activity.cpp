// SPDX-License-Identifier: BSL-1.0
// activity: the record of a thread, and the question that is put to the thread by a signal.
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

constexpr std::chrono::microseconds between_looks{100};

/// By it this copy of the library knows its own signals.
constinit char mark = 0;

/// A system call of the thread that is asked goes on as if nothing had happened, where the kernel can arrange that.
/// Other than SIGURG, this one is rarely somebody else's.
int signal_to_ask_with() noexcept { return SIGRTMAX - 3; }

/// Where the thread was when the signal came; 0 where that is not known for this kind of CPU.
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

constinit shared_signal activity::asks(&activity::on_signal, static_cast<int>(SA_RESTART));

/// Until the thread ends.
struct activity::keeper {
  std::shared_ptr<activity> kept;
  keeper() = default;
  keeper(const keeper&) = delete;
  keeper& operator=(const keeper&) = delete;
  ~keeper() {
    if (!kept) return;
    here = nullptr;
    (void)asks.set_target(nullptr);
    const std::lock_guard lock(kept->mutex_);
    kept->ended_ = true;
  }
};

activity::activity() noexcept : thread_(::pthread_self()) {}

std::shared_ptr<activity> activity::of_this_thread() noexcept {
  thread_local keeper mine;
  if (mine.kept) return mine.kept;
  try {
    asks.use(signal_to_ask_with());
    std::array<void*, 2> any{};
    (void)::backtrace(any.data(), any.size());  // the first one loads a library, which a signal handler must not
    std::shared_ptr<activity> fresh(new activity);
    if (!asks.set_target(fresh.get())) return nullptr;
    mine.kept = std::move(fresh);
  } catch (const std::exception&) {
    return nullptr;
  }
  here = mine.kept.get();
  return mine.kept;
}

// A signal handler on the same thread sees either number only together with its job.
void activity::become(const job& j) noexcept {
  now_.store(0, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  job_ = j;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  now_.store(j.number, std::memory_order_relaxed);
}

activity::job activity::begin(const job& fresh) noexcept {
  const job outer = job_;
  job numbered = fresh;
  numbered.number = ++numbers_;
  become(numbered);
  return outer;
}

activity::answer activity::ask(std::uint64_t number, duration patience, snapshot& to) {
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return answer::over;
    asked_for_ = number;
    request_.store(request::made, std::memory_order_release);
    if (::pthread_sigqueue(thread_, signal_to_ask_with(), {.sival_ptr = &mark}) != 0) {
      request_.store(request::none, std::memory_order_relaxed);
      return answer::none;
    }
  }
  const time_point deadline = clock::system().now() + patience;
  for (;;) {
    request now = request_.load(std::memory_order_acquire);
    if (now == request::answered || now == request::over) {
      if (now == request::answered) to = snapshot_;
      request_.store(request::none, std::memory_order_relaxed);
      return now == request::answered ? answer::given : answer::over;
    }
    // Not while it answers, which it does without waiting for anybody.
    if (clock::system().now() >= deadline && now == request::made &&
        request_.compare_exchange_strong(now, request::none))
      return answer::none;
    std::this_thread::sleep_for(between_looks);
  }
}

// In a signal handler.
bool activity::on_signal(void* target, siginfo_t& info, void* context) noexcept {
  if (info.si_code != SI_QUEUE || info.si_value.sival_ptr != &mark) return false;
  auto& self = *static_cast<activity*>(target);
  request expected = request::made;
  if (!self.request_.compare_exchange_strong(expected, request::taken)) return true;  // it comes too late
  const int saved = errno;
  const bool still_in_it = self.now() == self.asked_for_;
  if (still_in_it) self.take_snapshot(context);
  self.request_.store(still_in_it ? request::answered : request::over, std::memory_order_release);
  errno = saved;
  return true;
}

// In a signal handler. The id lives in a connection that is this thread's for as long as it is in the call.
void activity::take_snapshot(void* context) noexcept {
  snapshot& s = snapshot_;
  s.what = job_.what;
  s.whose = job_.whose ? *job_.whose : connection_id();
  s.type = job_.type;
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
