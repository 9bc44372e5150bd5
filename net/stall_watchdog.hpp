// SPDX-License-Identifier: BSL-1.0
// stall_watchdog: looks at the threads of a server now and then, and tells of those that do not get on.
#pragma once

#include <quintet/base/log.hpp>
#include <quintet/net/activity.hpp>
#include <quintet/net/stall.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace quintet {

class connection_registry;
struct connection_host;
struct server_options;

/// It takes the time, not the threads that it watches: they only number what they call. A call that it finds twice, the
/// bound apart, is a stall, and is told of once. So what lasts one bound and a half is found always, and what lasts
/// less than one never.
class stall_watchdog {
 public:
  /// The hook and the registry outlive it.
  stall_watchdog(const stall_options& options, const log_hook& log, connection_registry& connections);
  ~stall_watchdog() { stop(); }
  stall_watchdog(const stall_watchdog&) = delete;
  stall_watchdog& operator=(const stall_watchdog&) = delete;

  /// [any thread] It watches the calling thread from now on, until that ends.
  void watch_this_thread() noexcept {
    const activity* const known = activity::current();
    if (!known || known->known_to != number_) [[unlikely]]
      get_to_know_this_thread();
  }
  /// [before run] On the main loop's thread, which it watches from now on. Throws std::system_error where there are no
  /// more threads to be had.
  void start();
  /// Waits until what is being told has been told.
  void stop() noexcept;
  /// [any thread] Stalls that were told of.
  [[nodiscard]] std::uint64_t stalls() const noexcept { return stalls_.load(std::memory_order_relaxed); }

 private:
  struct watched {
    std::shared_ptr<activity> thread;
    std::uint64_t call = 0;  // that it was in when it was last looked at
    time_point since{};
    bool told = false;
  };
  struct suspect {
    std::shared_ptr<activity> thread;
    std::uint64_t call;
    duration lasted;
  };
  void get_to_know_this_thread() noexcept;
  void run() noexcept;
  std::vector<suspect> look(time_point now);
  void tell(const suspect& s) noexcept;
  void tell_everybody(const stall& s) const;

  const stall_options options_;
  const log_hook& log_;
  connection_registry& connections_;
  const std::uint64_t number_;  // of all watchdogs there have been
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stopping_ = false;
  std::vector<watched> threads_;
  std::atomic<std::uint64_t> stalls_{0};
  std::thread thread_;
};

/// Nothing, unless there is a bound, and somebody to tell.
[[nodiscard]] std::unique_ptr<stall_watchdog> make_watchdog(const server_options& options, connection_host& host);

}  // namespace quintet
