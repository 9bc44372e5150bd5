// SPDX-License-Identifier: BSL-1.0
// caches.hpp: the data caches of a CPU as the kernel tells them, and working sets that show each of them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace quintet::bench {

struct cache_level {
  unsigned level = 1;
  std::size_t bytes = 0;
};

// Of this CPU, smallest first; empty where the kernel does not tell. `root` is for tests.
std::vector<cache_level> read_caches(unsigned cpu, const std::string& root = "/sys/devices/system/cpu");

struct working_set {
  std::string name;  // "L2", "DRAM"
  std::size_t bytes = 0;
};

// Half of each cache, so that it fits beside what else there is, and a quarter from L3 on, which others share; of DRAM
// four times the last cache and at least 64 MiB. A set that `most` bytes cannot hold, or that hardly exceeds the cache
// below it, is left out and told in `left_out`.
std::vector<working_set> working_sets(const std::vector<cache_level>&, std::size_t most,
                                      std::vector<std::string>& left_out);

}  // namespace quintet::bench
