// SPDX-License-Identifier: BSL-1.0
// ping_pong.cpp: one atomic number that two threads increment in turn.
#include "probe/ping_pong.hpp"

#include <atomic>

#include "probe/median.hpp"
#include "probe/pinned_pair.hpp"

namespace quintet::bench {
namespace {

constexpr unsigned trips_at_a_time = 500;
constexpr unsigned over = ~0U;

struct alignas(128) ball {
  std::atomic<unsigned> turn{0};  // odd: the second thread's turn
};

void answer(ball& b) {
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

}  // namespace

double measure_ping_pong(unsigned first_cpu, unsigned second_cpu, std::chrono::nanoseconds how_long) {
  ball shared;
  const auto ask = [&] {
    return median_within(how_long, [&] { return nanoseconds_of_trips(shared) / (2 * trips_at_a_time); });
  };
  return run_pinned_pair(
      first_cpu, second_cpu, ask, [&] { answer(shared); }, [&] { shared.turn.store(over, std::memory_order_release); });
}

}  // namespace quintet::bench
