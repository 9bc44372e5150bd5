// SPDX-License-Identifier: BSL-1.0
// prepared_thread: starts a thread whose first steps may fail.
#pragma once

#include "../watch/thread_name.hpp"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace quintet::detail {

/// How a new thread tells its starter that it is ready, or why not. Allocates nothing: a std::promise that is destroyed
/// without a result does, and ends the process if it cannot.
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

/// [any thread] Calls prepare() and then run() on a new thread. Returns when prepare() has returned. Its exceptions
/// reach the caller. Throws boost::system::system_error if the system refuses the thread.
template <class Prepare, class Run>
[[nodiscard]] std::thread start_prepared_thread(const std::string& name, Prepare prepare, Run run) {
  start_report prepared;
  std::thread started = start_thread(name, [prepare = std::move(prepare), run = std::move(run), &prepared]() mutable {
    try {
      prepare();
    } catch (...) {
      return prepared.done(std::current_exception());
    }
    prepared.done();
    run();
  });
  try {
    prepared.wait();
  } catch (...) {
    started.join();
    throw;
  }
  return started;
}

}  // namespace quintet::detail
