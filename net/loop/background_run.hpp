// SPDX-License-Identifier: BSL-1.0
// background_run: a thread for the main loop of a server, a client or a node.
#pragma once

#include "../watch/thread_name.hpp"
#include "event_loop.hpp"
#include "start_report.hpp"

#include <exception>
#include <thread>

namespace quintet::detail {

/// [any thread] Calls start() on a new thread, runs the loop until it ends, and calls finish(). Returns when start()
/// has returned. Exceptions of start() reach the caller.
template <class Start, class Finish>
[[nodiscard]] std::thread run_in_background(const char* thread_name, event_loop& loop, Start start, Finish finish) {
  start_report started;
  std::thread background([thread_name, &loop, start, finish, &started]() mutable {
    name_this_thread(thread_name);
    try {
      loop.io().prepare();
      start();
    } catch (...) {
      return started.done(std::current_exception());
    }
    started.done();
    loop.run();
    finish();
  });
  try {
    started.wait();
  } catch (...) {
    background.join();
    throw;
  }
  return background;
}

}  // namespace quintet::detail
