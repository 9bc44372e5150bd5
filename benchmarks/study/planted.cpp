// SPDX-License-Identifier: BSL-1.0
// planted.cpp: two threads with a counter each.
#include "study/planted.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <future>

#include "compare/child_process.hpp"
#include "load/clock.hpp"
#include "options.hpp"

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

constexpr std::uint64_t at_a_time = 20'000;  // increments: some ten microseconds, too short to be preempted in often

// Of the stretches in which a thread ran, and the other one did too.
struct stretches {
  double seconds = 0;
  std::uint64_t increments = 0;
};

struct one_side {
  unsigned cpu;
  counter* mine;
  padded_counters* done;  // how many stretches; apart in either layout
  bool is_first;
};

stretches increase(const one_side& side, std::uint64_t times, std::barrier<>& start) {
  pin_thread({side.cpu});
  counter& my_done = side.is_first ? side.done->first : side.done->second;
  const counter& others_done = side.is_first ? side.done->second : side.done->first;
  stretches out;
  start.arrive_and_wait();
  for (std::uint64_t left = times; left > 0;) {
    const std::uint64_t next = std::min(left, at_a_time);
    const auto seen = others_done.load(std::memory_order_relaxed);
    const auto begun = now_ns();
    const double used = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
    for (std::uint64_t i = 0; i < next; ++i) side.mine->fetch_add(1, std::memory_order_relaxed);
    const double seconds = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - used;
    const double passed = static_cast<double>(now_ns() - begun) / 1e9;
    left -= next;
    my_done.fetch_add(1, std::memory_order_relaxed);
    if (others_done.load(std::memory_order_relaxed) == seen || seconds < 0.9 * passed) continue;
    out.seconds += seconds;
    out.increments += next;
  }
  return out;
}

template <class Counters>
double measure(const planted_counters& p) {
  Counters counters;
  padded_counters done;
  std::barrier start(2);
  auto second = std::async(std::launch::async, [&] {
    return increase({p.second_cpu, &counters.second, &done, false}, p.increments, start);
  });
  const auto first = increase({p.first_cpu, &counters.first, &done, true}, p.increments, start);
  const auto both = second.get();
  const auto counted = static_cast<double>(first.increments + both.increments);
  if (counted == 0) throw run_error("other programs never let the two threads run at the same time");
  return (first.seconds + both.seconds) * 1e9 / counted;
}

}  // namespace

std::string_view to_string(counter_layout layout) { return layout == counter_layout::adjacent ? "adjacent" : "padded"; }

counter_layout parse_layout(const std::string& text) {
  for (const counter_layout layout : all_layouts) {
    if (text == to_string(layout)) return layout;
  }
  throw usage_error('"' + text + "\" is no layout; there are: adjacent, padded");
}

double count_side_by_side(const planted_counters& p, counter_layout layout) {
  return layout == counter_layout::adjacent ? measure<adjacent_counters>(p) : measure<padded_counters>(p);
}

}  // namespace quintet::bench
