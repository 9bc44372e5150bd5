// SPDX-License-Identifier: BSL-1.0
// chase.cpp: chases pointers through memory.
#include "probe/chase.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <numeric>
#include <random>
#include <utility>

#include "load/clock.hpp"
#include "probe/median.hpp"

namespace quintet::bench {
namespace {

constexpr std::size_t line_bytes = 64;
constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t loads_at_a_time = 16 * 1024;

// `volatile` keeps the compiler from dropping loads whose result is unused.
void* follow(void* at, std::size_t loads) {
  for (std::size_t i = 0; i < loads; ++i) at = *static_cast<void* volatile*>(at);
  return at;
}

}  // namespace

std::vector<std::uint32_t> random_cycle(std::size_t count, std::uint64_t seed) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  std::mt19937_64 random(seed);
  // Sattolo: swapping only with earlier elements keeps one cycle.
  // A plain shuffle would give several, some of them tiny.
  for (std::size_t i = count; i-- > 1;) std::swap(order[i], order[random() % i]);
  return order;
}

pointer_chase::pointer_chase(std::size_t bytes, std::uint64_t seed)
    : lines_(std::max<std::size_t>(2, bytes / line_bytes)),
      bytes_((lines_ * line_bytes + huge_page - 1) / huge_page * huge_page),
      memory_(::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
      at_(memory_) {
  if (memory_ == MAP_FAILED) throw std::bad_alloc();
  ::madvise(memory_, bytes_, MADV_HUGEPAGE);  // optional: without huge pages the CPU translates more addresses
  const auto next = random_cycle(lines_, seed);
  const auto line = [&](std::size_t i) { return static_cast<char*>(memory_) + i * line_bytes; };
  for (std::size_t i = 0; i < lines_; ++i) new (line(i)) void*(line(next[i]));
}

pointer_chase::~pointer_chase() { ::munmap(memory_, bytes_); }

double pointer_chase::measure(std::chrono::nanoseconds how_long) {
  at_ = follow(at_, std::min<std::size_t>(lines_, 1 << 20));  // warms the cache with all lines that fit
  return median_within(how_long, [this] {
    const double begun = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
    at_ = follow(at_, loads_at_a_time);
    return (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - begun) * 1e9 / static_cast<double>(loads_at_a_time);
  });
}

}  // namespace quintet::bench
