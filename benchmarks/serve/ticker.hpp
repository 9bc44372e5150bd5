// SPDX-License-Identifier: BSL-1.0
// ticker.hpp: a thread that calls one function every second, and another when a given time has passed.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace quintet::bench {

class ticker {
 public:
  using clock = std::chrono::steady_clock;

  ticker(std::function<void()> each_second, std::optional<std::chrono::nanoseconds> length, std::function<void()> end)
      : thread_([=, each = std::move(each_second), at_end = std::move(end)](const std::stop_token& stop) {
          run(stop, each, length, at_end);
        }) {}

 private:
  static void run(const std::stop_token& stop, const std::function<void()>& each_second,
                  std::optional<std::chrono::nanoseconds> length, const std::function<void()>& end) {
    std::mutex mutex;
    std::condition_variable_any asleep;
    std::unique_lock lock(mutex);
    const auto begin = clock::now();
    const auto last = length ? begin + *length : clock::time_point::max();
    for (auto next = begin; !stop.stop_requested();) {
      next += std::chrono::seconds(1);
      asleep.wait_until(lock, stop, std::min(next, last), [] { return false; });
      if (stop.stop_requested()) return;
      if (clock::now() >= last) return end();
      if (each_second) each_second();
    }
  }

  std::jthread thread_;
};

}  // namespace quintet::bench
