// SPDX-License-Identifier: BSL-1.0
// stall_watchdog: looks at the threads of a server now and then, and tells of those that do not get on.
#pragma once

#include "../../base/log.hpp"
#include "../names/connection_id.hpp"
#include "../options/stall.hpp"
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

/// It takes the time, not the threads that it watches: they only number what they call. A call that it finds twice, the
/// bound apart, is a stall, and is told of once. So what lasts one bound and a half is found always, and what lasts
/// less than one never.
class stall_watchdog {
 public:
  /// [any thread] The peer's address of a connection that is open, or nothing.
  using peer_function = std::function<std::string(const connection_id&)>;

  /// The hook outlives it.
  stall_watchdog(const stall_options& options, const log_hook& log, peer_function peer_of);
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
  std::vector<suspect> look(time_point now) noexcept;
  void tell(const suspect& s) noexcept;
  void tell_everybody(const stall& s) const;

  const stall_options options_;
  const log_hook& log_;
  const peer_function peer_of_;
  const std::uint64_t number_;  // of all watchdogs there have been
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stopping_ = false;
  std::vector<watched> threads_;
  std::atomic<std::uint64_t> stalls_{0};
  std::thread thread_;
};

}  // namespace quintet
