// SPDX-License-Identifier: BSL-1.0
// chase.hpp: following pointers through memory: each load waits for the one before, and no prefetcher guesses it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace quintet::bench {

// One cycle through all of 0 .. count-1 in random order (Sattolo): next[i] follows i.
std::vector<std::uint32_t> random_cycle(std::size_t count, std::uint64_t seed);

// A working set of cache lines, linked into one random cycle. Asks for huge pages, so that little time goes to the
// translation of addresses.
class pointer_chase {
 public:
  // Throws std::bad_alloc.
  pointer_chase(std::size_t bytes, std::uint64_t seed);
  ~pointer_chase();
  pointer_chase(const pointer_chase&) = delete;
  pointer_chase& operator=(const pointer_chase&) = delete;

  // Nanoseconds for a load: the median over stretches of some thousand loads, in CPU time of this thread, since being
  // preempted is not memory's fault.
  double measure(std::chrono::nanoseconds how_long);
  std::size_t lines() const { return lines_; }

 private:
  std::size_t lines_, bytes_;
  void* memory_;
  void* at_;
};

}  // namespace quintet::bench
