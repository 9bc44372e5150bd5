// SPDX-License-Identifier: BSL-1.0
// stop_on_signals: a signal handler that writes to an eventfd, which the loop watches.
#include "stop_on_signals.hpp"

#include "../engine/file_descriptor.hpp"

#include <sys/eventfd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <boost/system/system_error.hpp>

namespace quintet {
namespace {

// For each signal: the eventfd to write to, plus one; 0: none. The signal handler reads nothing else.
constinit std::array<std::atomic<int>, 65> targets{};
// Threads inside the handler. An eventfd must not be closed while one of them may write to it.
constinit std::atomic<int> inside{0};

extern "C" void quintet_on_signal(int signal) {
  const int saved = errno;
  const std::uint64_t one = 1;
  inside.fetch_add(1);
  if (const int target = targets[static_cast<std::size_t>(signal)].load(); target != 0)
    (void)!::write(target - 1, &one, sizeof one);
  inside.fetch_sub(1);
  errno = saved;
}

}  // namespace

class signal_guard::watcher final : private event_channel {
 public:
  watcher(event_loop& on, std::function<void()> call)
      : loop_(on), call_(std::move(call)), events_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
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
  void on_event() override {
    std::uint64_t count = 0;
    (void)!::read(events_.get(), &count, sizeof count);
    call_();
  }
  event_loop& loop_;
  std::function<void()> call_;
  file_descriptor events_;
};

signal_guard::signal_guard(event_loop& on, std::initializer_list<int> signals, std::function<void()> call)
    : watcher_(std::make_unique<watcher>(on, std::move(call))) {
  saved_.reserve(signals.size());
  for (const int signal : signals) {
    saved_action before{signal, {}, 0};
    struct sigaction action{};
    action.sa_handler = &quintet_on_signal;
    action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    const bool exists = signal > 0 && static_cast<std::size_t>(signal) < targets.size();
    if (exists) before.target = targets[static_cast<std::size_t>(signal)].exchange(watcher_->descriptor() + 1);
    if (!exists || ::sigaction(signal, &action, &before.action) != 0) {
      if (exists) targets[static_cast<std::size_t>(signal)].store(before.target);
      restore();
      throw std::invalid_argument("signal " + std::to_string(signal) + " cannot be caught");
    }
    saved_.push_back(before);
  }
}

signal_guard::~signal_guard() { restore(); }

void signal_guard::restore() noexcept {
  for (; !saved_.empty(); saved_.pop_back()) {
    const saved_action& before = saved_.back();
    ::sigaction(before.signal, &before.action, nullptr);
    targets[static_cast<std::size_t>(before.signal)].store(before.target);
  }
  while (inside.load() != 0) std::this_thread::yield();
}

}  // namespace quintet
