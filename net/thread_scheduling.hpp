// SPDX-License-Identifier: BSL-1.0
// thread_scheduling: asks the kernel to run a thread soon, and says what it got.
#pragma once

#include <quintet/base/clock.hpp>
#include <quintet/base/error.hpp>
#include <quintet/net/priority_options.hpp>

#include <string>

namespace quintet {

/// What a thread has got of what it asked for. A refusal without a reason was not asked for, or not needed.
struct thread_scheduling {
  bool real_time = false;             ///< SCHED_RR
  duration slice = duration::zero();  ///< of an ordinary thread; zero: as the system has it
  int nice = 0;                       ///< of an ordinary thread
  error_code real_time_refused = {}, slice_refused = {}, nice_refused = {};
};

/// For the calling thread. Never fails: what is refused is in the result.
thread_scheduling schedule_this_thread(lane_scheduling wanted) noexcept;

/// [any thread] In one line: "ordinary, slices of 100 us; refused: nice (Permission denied)".
[[nodiscard]] std::string to_string(const thread_scheduling& got);

}  // namespace quintet
