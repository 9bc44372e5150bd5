// SPDX-License-Identifier: BSL-1.0
// thread_scheduling: asks the kernel to run a thread soon, and reports the kernel's answer.
#pragma once

#include "../../base/clock.hpp"
#include "../options/advanced_options.hpp"
#include "server_statistics.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace quintet {

/// [any thread] Asks for the scheduling of the calling thread. Never fails: the result lists the refusals.
thread_scheduling schedule_this_thread(priority_scheduling wanted) noexcept;
/// [any thread] Undoes schedule_this_thread() for the calling thread. `nice` is the thread's value before that call.
thread_scheduling demote_this_thread(int nice) noexcept;
/// [any thread] Returns the nice value of the calling thread; 0 if the system does not tell it.
[[nodiscard]] int nice_of_this_thread() noexcept;
/// [any thread] Returns the CPU time that the calling thread has used.
[[nodiscard]] duration cpu_time_of_this_thread() noexcept;

/// Decides when a preferred thread must become an ordinary one for a while, because it would keep others from its CPU.
/// Each pause that follows soon is twice as long as the last, so a lasting flood gets little CPU time. The class has no
/// clock and makes no system calls.
class priority_throttle {
 public:
  static constexpr duration interval = std::chrono::milliseconds(100);  ///< between two calls of update()
  static constexpr duration idle_interval = std::chrono::seconds(1);    ///< for a thread below 1 % of a CPU
  static constexpr duration shortest_pause = std::chrono::milliseconds(400), longest_pause = std::chrono::seconds(10);
  static constexpr int part = 4;  ///< a preferred thread may use a quarter of a CPU

  /// Accounts for `used` CPU time within the `passed` time since the last call. Updates granted(). Returns the time
  /// until the next call.
  [[nodiscard]] duration update(duration used, duration passed) noexcept {
    if (!std::exchange(granted_, true)) return interval;
    if (used <= passed / part) {
      pause_ = std::max(pause_ / 2, shortest_pause);
      return used <= passed / 100 ? idle_interval : interval;
    }
    granted_ = false;
    return std::exchange(pause_, std::min(2 * pause_, longest_pause));
  }
  [[nodiscard]] bool granted() const noexcept { return granted_; }

 private:
  bool granted_ = true;
  duration pause_ = shortest_pause;
};

}  // namespace quintet
