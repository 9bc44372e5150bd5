// SPDX-License-Identifier: BSL-1.0
// loop_thread: a named thread that runs an event_loop; stopped and joined on destruction.
#pragma once

#include "event_loop.hpp"

#include <functional>
#include <string>
#include <thread>

namespace quintet {

class loop_thread {
 public:
  /// The loop must outlive the thread, which is as its options say (the CPU is read back), and has called `first`,
  /// before this returns. Throws what `first` throws, and boost::system::system_error where the system refuses the CPU,
  /// the table of descriptors, what the loop's engine needs, or the thread.
  loop_thread(event_loop& loop, std::string name, std::function<void()> first = {});
  ~loop_thread();
  loop_thread(const loop_thread&) = delete;
  loop_thread& operator=(const loop_thread&) = delete;

 private:
  event_loop& loop_;
  std::thread thread_;
};

}  // namespace quintet
