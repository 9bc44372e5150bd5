// SPDX-License-Identifier: BSL-1.0
// thread_scheduling: asks the kernel to run a thread soon, and says what it got.
#pragma once

#include "../../base/clock.hpp"
#include "../../base/error.hpp"
#include "../options/priority_options.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace quintet {

/// What a thread has got of what it asked for. A refusal without a reason was not asked for, or not needed.
struct thread_scheduling {
  bool real_time = false;             ///< SCHED_RR
  duration slice = duration::zero();  ///< of an ordinary thread; zero: as the system has it
  int nice = 0;                       ///< of an ordinary thread
  error_code real_time_refused = {}, slice_refused = {}, nice_refused = {};
  bool held_back = false;  ///< it has used too much of a CPU, and has none of this for a while
  [[nodiscard]] bool preferred() const noexcept { return real_time || nice < 0; }
};

/// For the calling thread. Never fails: what is refused is in the result.
thread_scheduling schedule_this_thread(priority_scheduling wanted) noexcept;
/// Takes back what schedule_this_thread() has got for the calling thread, which had this nice value before.
thread_scheduling hold_this_thread_back(int nice) noexcept;
/// The calling thread's.
[[nodiscard]] int nice_of_this_thread() noexcept;
/// How long the calling thread has run so far.
[[nodiscard]] duration cpu_time_of_this_thread() noexcept;

/// Decides when a preferred thread has to be an ordinary one for a while: if it ran and ran, it would keep its CPU from
/// everybody else. Each time that follows soon is twice as long, so a lasting flood gets next to nothing of it. It has
/// no clock and makes no system calls.
class preference {
 public:
  static constexpr duration interval = std::chrono::milliseconds(100);  ///< between two looks
  static constexpr duration calm_interval = std::chrono::seconds(1);    ///< of a thread that does next to nothing
  static constexpr duration shortest_pause = std::chrono::milliseconds(400), longest_pause = std::chrono::seconds(10);
  static constexpr int part = 4;  ///< a preferred thread may use a quarter of a CPU

  /// The thread has run for `used` of the time since the last look. Returns the time until the next one.
  [[nodiscard]] duration look(duration used, duration passed) noexcept {
    if (!std::exchange(granted_, true)) return interval;
    if (used <= passed / part) {
      pause_ = std::max(pause_ / 2, shortest_pause);
      return used <= passed / 100 ? calm_interval : interval;
    }
    granted_ = false;
    return std::exchange(pause_, std::min(2 * pause_, longest_pause));
  }
  [[nodiscard]] bool granted() const noexcept { return granted_; }

 private:
  bool granted_ = true;
  duration pause_ = shortest_pause;
};

/// [any thread] In one line: "ordinary, slices of 100 us; refused: nice (Permission denied)".
[[nodiscard]] std::string to_string(const thread_scheduling& got);

}  // namespace quintet
