// SPDX-License-Identifier: BSL-1.0
// start_report: a new thread tells its starter that it is ready, or why not.
#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>
#include <utility>

namespace quintet::detail {

/// Allocates nothing: a std::promise that is destroyed without a result does, and ends the process if it cannot.
class start_report {
 public:
  /// [any thread] The new thread's last use of this object.
  void done(std::exception_ptr failed = nullptr) noexcept {
    const std::lock_guard lock(mutex_);  // held while it notifies: the starter may destroy this object afterwards
    failed_ = std::move(failed);
    is_done_ = true;
    changed_.notify_one();
  }
  /// [any thread] Waits for done(). Throws the exception that it was given.
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_done_; });
    if (failed_) std::rethrow_exception(failed_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::exception_ptr failed_;
  bool is_done_ = false;
};

}  // namespace quintet::detail
