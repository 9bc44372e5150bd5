// SPDX-License-Identifier: BSL-1.0
// stall_watchdog: checks a server's threads at intervals, and reports those that are stuck in a call.
#pragma once

#include "../../base/log.hpp"
#include "../names/connection_id.hpp"
#include "../options/advanced_options.hpp"
#include "activity.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace quintet {

/// Polls the threads, which only number their calls. A call found again after the bound is a stall, and is reported
/// once. Stalls of at least one and a half bounds are always found. Calls shorter than the bound are never reported.
class stall_watchdog {
 public:
  /// [any thread] Returns the peer's address of an open connection, or an empty string.
  using peer_function = std::function<std::string(const connection_id&)>;

  /// `log` must outlive the watchdog.
  stall_watchdog(const stall_options& options, const log_hook& log, peer_function peer_of);
  ~stall_watchdog() { stop(); }
  stall_watchdog(const stall_watchdog&) = delete;
  stall_watchdog& operator=(const stall_watchdog&) = delete;

  /// [any thread] Watches the calling thread until that thread ends. Without memory the next call tries again.
  void watch_this_thread() noexcept {
    const activity* const known = activity::current();
    if (!known || known->watchdog_number != number_) [[unlikely]]
      register_this_thread();
  }
  /// [before run] Call on the main loop's thread. Watches that thread, and starts the watchdog's. Throws
  /// boost::system::system_error if the system refuses a thread.
  void start();
  /// Ends the watchdog's thread, and waits until a report in progress is finished. Not thread-safe; not from a hook.
  void stop() noexcept;
  /// [any thread] Returns the number of reported stalls.
  [[nodiscard]] std::uint64_t stalls() const noexcept { return stalls_.load(std::memory_order_relaxed); }

 private:
  struct watched {
    std::shared_ptr<activity> thread;
    std::uint64_t call = 0;  // its call at the last look
    time_point since{};
    bool is_reported = false;
  };
  struct suspect {
    std::shared_ptr<activity> thread;
    std::uint64_t call;
    duration lasted;
  };
  void register_this_thread() noexcept;
  void run() noexcept;
  std::vector<suspect> find_stalls(time_point now) noexcept;
  void report_stall(const suspect& s) noexcept;
  void report_to_hooks(const stall& s) const;

  const stall_options options_;
  const log_hook& log_;
  const peer_function peer_of_;
  const std::uint64_t number_;  // unique among all watchdogs of the process
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stopping_ = false;
  std::vector<watched> threads_;
  std::atomic<std::uint64_t> stalls_{0};
  std::thread thread_;
};

}  // namespace quintet
