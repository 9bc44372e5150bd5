// SPDX-License-Identifier: BSL-1.0
// background_run: a thread for the main loop of a server, a client or a node.
#pragma once

#include "../watch/thread_name.hpp"
#include "event_loop.hpp"

#include <exception>
#include <future>
#include <thread>
#include <utility>

namespace quintet::detail {

/// [any thread] Calls start() on a new thread, runs the loop until it ends, and calls finish(). Returns when start()
/// has returned. Exceptions of start() reach the caller.
template <class Start, class Finish>
[[nodiscard]] std::thread run_in_background(const char* thread_name, event_loop& loop, Start start, Finish finish) {
  std::promise<void> started;
  std::future<void> has_started = started.get_future();
  auto run = [&loop, start, finish, promise = std::move(started)]() mutable {
    try {
      loop.io().prepare();
      start();
    } catch (...) {
      return promise.set_exception(std::current_exception());
    }
    promise.set_value();
    loop.run();
    finish();
  };
  std::thread background = start_thread(thread_name, std::move(run));
  try {
    has_started.get();
  } catch (...) {
    background.join();
    throw;
  }
  return background;
}

}  // namespace quintet::detail
