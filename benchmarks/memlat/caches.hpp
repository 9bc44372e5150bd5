// SPDX-License-Identifier: BSL-1.0
// caches.hpp: the data caches of a CPU according to the kernel, and a working set for each of them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace quintet::bench {

struct cache_level {
  unsigned level = 1;
  std::size_t bytes = 0;
};

// Returns the CPU's data caches, smallest first; empty if the kernel lists none. `root` is for tests.
std::vector<cache_level> read_caches(unsigned cpu, const std::string& root = "/sys/devices/system/cpu");

struct working_set {
  std::string name;  // "L2", "DRAM"
  std::size_t bytes = 0;
};

// Returns working sets. Each is half of its cache, to leave room for other data, or a quarter from L3 on, which is
// shared. DRAM gets four times the last cache, at least 64 MiB. A set above `most` bytes, or hardly larger than the
// cache below, is omitted with a line in `left_out`.
std::vector<working_set> working_sets(const std::vector<cache_level>&, std::size_t most,
                                      std::vector<std::string>& left_out);

}  // namespace quintet::bench
