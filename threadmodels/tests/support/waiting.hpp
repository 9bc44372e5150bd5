// SPDX-License-Identifier: BSL-1.0
// waiting: tests wait for conditions, never for a time. Time limits only end a test that has failed.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>

namespace quintet::test {

/// Long enough for a loaded machine under a sanitizer. A wait that reaches it is a failure.
constexpr std::chrono::seconds patience{60};

/// Polls a condition that has no notification, such as a counter of the server or the kernel's list of threads.
template <class Condition>
[[nodiscard]] bool eventually(Condition holds) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(100));  // only between two polls
  }
  return true;
}

/// Handlers wait at the gate until the test opens it.
class gate {
 public:
  /// Returns false if the gate was not opened in time.
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
