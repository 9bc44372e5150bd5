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
  auto run = [&loop, start, finish, &started]() mutable {
    try {
      loop.io().prepare();
      start();
    } catch (...) {
      return started.done(std::current_exception());
    }
    started.done();
    loop.run();
    finish();
  };
  std::thread background = start_thread(thread_name, std::move(run));
  try {
    started.wait();
  } catch (...) {
    background.join();
    throw;
  }
  return background;
}

}  // namespace quintet::detail
