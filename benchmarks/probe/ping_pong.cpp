// SPDX-License-Identifier: BSL-1.0
// ping_pong.cpp: one atomic number that two threads increment in turn.
#include "probe/ping_pong.hpp"

#include <atomic>
#include <future>
#include <utility>
#include <vector>

#include "options.hpp"
#include "probe/median.hpp"

namespace quintet::bench {
namespace {

constexpr unsigned trips_at_a_time = 500;
constexpr unsigned over = ~0U;

struct alignas(128) ball {
  std::atomic<unsigned> turn{0};  // odd: the second thread's turn
};

void answer(ball& b, unsigned cpu) {
  pin_thread({cpu});
  while (true) {
    const unsigned seen = b.turn.load(std::memory_order_acquire);
    if (seen == over) return;
    if (seen % 2 == 1) b.turn.store(seen + 1, std::memory_order_release);
  }
}

double nanoseconds_of_trips(ball& b) {
  const auto begun = std::chrono::steady_clock::now();
  for (unsigned i = 0; i < 2 * trips_at_a_time; i += 2) {
    b.turn.store(i + 1, std::memory_order_release);
    while (b.turn.load(std::memory_order_acquire) != i + 2) {
    }
  }
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begun).count();
}

double ask(ball& b, unsigned cpu, std::chrono::nanoseconds how_long) {
  pin_thread({cpu});
  const auto end = std::chrono::steady_clock::now() + how_long;
  std::vector<double> ways;
  do {
    ways.push_back(nanoseconds_of_trips(b) / (2 * trips_at_a_time));
  } while (std::chrono::steady_clock::now() < end);
  return median(std::move(ways));
}

}  // namespace

double measure_ping_pong(unsigned first_cpu, unsigned second_cpu, std::chrono::nanoseconds how_long) {
  // Test first: the other thread would wait forever for one that cannot start.
  for (const unsigned cpu : {first_cpu, second_cpu}) {
    std::async(std::launch::async, [cpu] { pin_thread({cpu}); }).get();
  }
  ball shared;
  auto second = std::async(std::launch::async, [&] { answer(shared, second_cpu); });
  auto first = std::async(std::launch::async, [&] { return ask(shared, first_cpu, how_long); });
  first.wait();  // even after a failure, the other thread must end
  shared.turn.store(over, std::memory_order_release);
  second.get();
  return first.get();
}

}  // namespace quintet::bench
