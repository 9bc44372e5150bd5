// SPDX-License-Identifier: BSL-1.0
// counters.cpp: two threads with a counter each.
#include "probe/counters.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <stdexcept>

#include "load/clock.hpp"
#include "probe/pinned_pair.hpp"

namespace quintet::bench {
namespace {

constexpr std::size_t two_lines = 128;  // the hardware fetches lines in pairs

using counter = std::atomic<std::uint64_t>;

struct alignas(two_lines) adjacent_counters {
  counter first{0}, second{0};
};

struct padded_counters {
  alignas(two_lines) counter first{0};
  alignas(two_lines) counter second{0};
};

constexpr std::uint64_t patience_ns = 5'000'000'000;
constexpr std::uint64_t at_a_time = 20'000;  // increments; some ten microseconds, so preemption within is rare

// Sums over a thread's stretches in which both threads ran.
struct stretches {
  double seconds = 0;
  std::uint64_t increments = 0, all = 0;  // all: of every stretch
};

// State shared by the two threads, in separate lines in either layout.
struct progress_of_both {
  padded_counters done;  // completed stretches of each thread
  alignas(two_lines) std::atomic<bool> met{false};
  std::barrier<> start{2};
};

struct one_side {
  counter* mine;
  bool is_first;
};

stretches increase(const one_side& side, std::uint64_t times, progress_of_both& both) {
  counter& my_done = side.is_first ? both.done.first : both.done.second;
  const counter& others_done = side.is_first ? both.done.second : both.done.first;
  stretches out;
  both.start.arrive_and_wait();
  const auto until = now_ns() + patience_ns;
  while (out.all < times || (!both.met.load(std::memory_order_relaxed) && now_ns() < until)) {
    const auto seen = others_done.load(std::memory_order_relaxed);
    const auto begun = now_ns();
    const double used = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
    for (std::uint64_t i = 0; i < at_a_time; ++i) side.mine->fetch_add(1, std::memory_order_relaxed);
    const double seconds = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - used;
    const double passed = static_cast<double>(now_ns() - begun) / 1e9;
    out.all += at_a_time;
    my_done.fetch_add(1, std::memory_order_relaxed);
    if (others_done.load(std::memory_order_relaxed) == seen || seconds < 0.9 * passed) continue;
    out.seconds += seconds;
    out.increments += at_a_time;
    if (!both.met.load(std::memory_order_relaxed)) both.met.store(true, std::memory_order_relaxed);
  }
  return out;
}

template <class Counters>
planted_result measure(const planted_counters& p) {
  Counters counters;
  progress_of_both both;
  stretches second;
  const auto first = run_pinned_pair(
      p.first_cpu, p.second_cpu, [&] { return increase({&counters.first, true}, p.increments, both); },
      [&] { second = increase({&counters.second, false}, p.increments, both); }, [] {});
  const auto counted = static_cast<double>(first.increments + second.increments);
  if (counted == 0)
    throw std::runtime_error("the two threads never ran at the same time, because other programs used the CPUs");
  return {(first.seconds + second.seconds) * 1e9 / counted, first.all + second.all};
}

}  // namespace

planted_result count_side_by_side(const planted_counters& p, counter_layout layout) {
  return layout == counter_layout::adjacent ? measure<adjacent_counters>(p) : measure<padded_counters>(p);
}

}  // namespace quintet::bench
