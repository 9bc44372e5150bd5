// SPDX-License-Identifier: BSL-1.0
// stop_on_signals: a signal handler that writes to an eventfd, which the loop watches.
#include "stop_on_signals.hpp"

#include "../engine/file_descriptor.hpp"

#include <sys/eventfd.h>

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/system/system_error.hpp>

namespace quintet {
namespace {

// For each signal: the eventfd to write to, plus one, and the process that has made it; 0: none. The signal handler
// reads nothing else.
constinit std::array<std::atomic<std::uint64_t>, 65> targets{};

constexpr unsigned bits_of_process = 32;
std::uint64_t target_of_this_process(int descriptor) noexcept {
  return static_cast<std::uint64_t>(::getpid()) << bits_of_process | static_cast<std::uint32_t>(descriptor + 1);
}
bool is_of_this_process(std::uint64_t target) noexcept {
  return target >> bits_of_process == static_cast<std::uint64_t>(::getpid());
}
int descriptor_of(std::uint64_t target) noexcept { return static_cast<int>(target & 0xffff'ffffU) - 1; }

// Threads inside the handler. An eventfd must not be closed while one of them may write to it.
constinit std::atomic<int> inside{0};

extern "C" void quintet_on_signal(int signal) {
  const int saved = errno;
  const std::uint64_t one = 1;
  inside.fetch_add(1);
  if (const std::uint64_t target = targets[static_cast<std::size_t>(signal)].load(); is_of_this_process(target))
    (void)!::write(descriptor_of(target), &one, sizeof one);
  else if (target != 0)
    (void)::raise(signal);  // a child of fork() shares the eventfd of its parent; the usual effect is its own
  inside.fetch_sub(1);
  errno = saved;
}

}  // namespace

class signal_guard::watcher final : private event_channel {
 public:
  watcher(event_loop& on, std::initializer_list<int> signals, std::function<void()> call)
      : loop_(on), signals_(signals), call_(std::move(call)), events_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    error_code ec;
    if (!events_)
      ec = system_error_code(errno);
    else
      ec = loop_.io().add(*this, events_.get());
    if (ec) throw boost::system::system_error(ec, "cannot watch for signals");
  }
  ~watcher() { loop_.io().remove(*this); }
  watcher(const watcher&) = delete;
  watcher& operator=(const watcher&) = delete;
  [[nodiscard]] int descriptor() const noexcept { return events_.get(); }

 private:
  // The kernel has given the signal that came its usual effect back, and the others get theirs here: a second one of
  // any kind has it.
  void on_event() override {
    std::uint64_t count = 0;
    (void)!::read(events_.get(), &count, sizeof count);
    struct sigaction usual{};
    usual.sa_handler = SIG_DFL;
    for (const int signal : signals_) ::sigaction(signal, &usual, nullptr);
    call_();
  }
  event_loop& loop_;
  const std::vector<int> signals_;
  std::function<void()> call_;
  file_descriptor events_;
};

signal_guard::signal_guard(event_loop& on, std::initializer_list<int> signals, std::function<void()> call)
    : watcher_(std::make_unique<watcher>(on, signals, std::move(call))) {
  saved_.reserve(signals.size());
  for (const int signal : signals) {
    saved_action before{signal, {}, 0};
    struct sigaction action{};
    action.sa_handler = &quintet_on_signal;
    action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    const bool exists = signal > 0 && static_cast<std::size_t>(signal) < targets.size();
    if (exists)
      before.target =
          targets[static_cast<std::size_t>(signal)].exchange(target_of_this_process(watcher_->descriptor()));
    if (!exists || ::sigaction(signal, &action, &before.action) != 0) {
      if (exists) targets[static_cast<std::size_t>(signal)].store(before.target);
      restore();
      throw std::invalid_argument("signal " + std::to_string(signal) + " cannot be caught");
    }
    saved_.push_back(before);
  }
  unblock(signals);
}

// A parent may have blocked them for all that it starts. Later threads inherit the mask of this one.
void signal_guard::unblock(std::initializer_list<int> signals) noexcept {
  sigset_t these{};
  sigemptyset(&these);
  for (const int signal : signals) sigaddset(&these, signal);
  sigemptyset(&blocked_before_);
  sigset_t before{};
  ::pthread_sigmask(SIG_UNBLOCK, &these, &before);
  for (const int signal : signals)
    if (sigismember(&before, signal) == 1) sigaddset(&blocked_before_, signal);
  unblocked_on_ = ::pthread_self();
}

signal_guard::~signal_guard() { restore(); }

void signal_guard::restore() noexcept {
  if (::pthread_equal(unblocked_on_, ::pthread_self())) ::pthread_sigmask(SIG_BLOCK, &blocked_before_, nullptr);
  for (; !saved_.empty(); saved_.pop_back()) {
    const saved_action& before = saved_.back();
    ::sigaction(before.signal, &before.action, nullptr);
    targets[static_cast<std::size_t>(before.signal)].store(before.target);
  }
  while (inside.load() != 0) std::this_thread::yield();
}

}  // namespace quintet
