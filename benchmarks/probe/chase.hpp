// SPDX-License-Identifier: BSL-1.0
// chase.hpp: chases pointers through memory. Each load waits for the previous one, and no prefetcher predicts it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace quintet::bench {

// Returns one cycle through all of 0 .. count-1 in random order (Sattolo): next[i] follows i.
std::vector<std::uint32_t> random_cycle(std::size_t count, std::uint64_t seed);

// A working set of cache lines, linked into one random cycle.
// It requests huge pages, to keep address translation cheap.
class pointer_chase {
 public:
  // Throws std::bad_alloc.
  pointer_chase(std::size_t bytes, std::uint64_t seed);
  ~pointer_chase();
  pointer_chase(const pointer_chase&) = delete;
  pointer_chase& operator=(const pointer_chase&) = delete;

  // Returns nanoseconds per load: the median over stretches of some thousand loads. It uses the thread's CPU time,
  // because preemption is not memory latency.
  double measure(std::chrono::nanoseconds how_long);
  std::size_t lines() const { return lines_; }

 private:
  std::size_t lines_, bytes_;
  void* memory_;
  void* at_;
};

}  // namespace quintet::bench
