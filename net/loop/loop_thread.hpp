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
  /// Starts the thread, applies the loop's options to it, and has it call `first`. The constructor returns after that.
  /// The loop must outlive this object. Exceptions of `first` reach the caller. Throws boost::system::system_error if
  /// the system refuses the thread, which it names, the CPU (read back), the descriptor table, or a need of the engine.
  loop_thread(event_loop& loop, const std::string& name, std::function<void()> first = {});
  ~loop_thread();
  loop_thread(const loop_thread&) = delete;
  loop_thread& operator=(const loop_thread&) = delete;

 private:
  event_loop& loop_;
  std::thread thread_;
};

}  // namespace quintet
