// SPDX-License-Identifier: BSL-1.0
// clock.hpp: CLOCK_MONOTONIC in nanoseconds, and CPU time in seconds.
#pragma once

#include <cstdint>
#include <ctime>

namespace quintet::bench {

constexpr std::uint64_t never_ns = ~std::uint64_t{0};

inline std::uint64_t now_ns() {
  timespec t;
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}

/// CPU time of this thread (CLOCK_THREAD_CPUTIME_ID) or process (CLOCK_PROCESS_CPUTIME_ID).
inline double cpu_seconds(clockid_t whose) {
  timespec t;
  ::clock_gettime(whose, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

inline timespec to_timespec(std::uint64_t ns) {
  return {.tv_sec = static_cast<time_t>(ns / 1'000'000'000u), .tv_nsec = static_cast<long>(ns % 1'000'000'000u)};
}

inline void sleep_until(std::uint64_t ns) {
  const timespec t = to_timespec(ns);
  ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr);
}

}  // namespace quintet::bench
