// SPDX-License-Identifier: BSL-1.0
// waiting: how tests wait: for a condition, never for a time; the time limits only end a test that has failed.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>

namespace quintet::test {

/// Long enough for a loaded machine under a sanitizer; whoever waits this long reports a failure.
constexpr std::chrono::seconds patience{60};

/// Waits for a condition that nobody announces (a counter of the server, the kernel's list of threads).
template <class Condition>
[[nodiscard]] bool eventually(Condition holds) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(100));  // between two looks, not in place of one
  }
  return true;
}

/// Where handlers wait until the test lets them go on.
class gate {
 public:
  /// False: nobody opened it.
  bool wait() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    const bool opened = changed_.wait_for(lock, patience, [this] { return open_; });
    --waiting_;
    return opened;
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  [[nodiscard]] bool await_waiting(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] { return waiting_ >= count; });
  }
  [[nodiscard]] std::size_t waiting() const {
    const std::lock_guard lock(mutex_);
    return waiting_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t waiting_ = 0;
  bool open_ = false;
};

}  // namespace quintet::test
