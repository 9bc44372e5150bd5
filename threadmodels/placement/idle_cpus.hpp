// SPDX-License-Identifier: BSL-1.0
// idle_cpus: which CPUs have least to do, and lie well together.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace quintet {

/// So many of the candidates, the idlest first; all of them where there are no more. Looks at /proc/stat for as long as
/// it says here, and at /sys for cores and NUMA nodes. Of a system that does not tell, the first ones.
[[nodiscard]] std::vector<int> idlest_cpus(const std::vector<int>& candidates, std::size_t count,
                                           std::chrono::milliseconds looks_for = std::chrono::milliseconds(100));

namespace detail {

/// What is known of a CPU.
struct cpu_facts {
  int number = 0;
  int node = 0;     ///< NUMA
  int core = 0;     ///< the first CPU of the same core
  double busy = 0;  ///< the share of the time looked at
};

/// On one node if one has enough, the one where they are least busy; a core's second CPU when each core has one.
[[nodiscard]] std::vector<int> choose_cpus(const std::vector<cpu_facts>& all, std::size_t count);

/// Jiffies of a CPU, by the text of /proc/stat.
struct cpu_ticks {
  double busy = 0, all = 0;
};
/// By number; one that the text does not have has none.
[[nodiscard]] std::vector<cpu_ticks> ticks_of(const std::string& stat, const std::vector<int>& cpus);
/// "0-3,8": in order. Nothing of a text that is none.
[[nodiscard]] std::vector<int> parse_cpu_list(std::string_view text);
/// Node and core, from the files below a directory like /sys/devices/system.
void read_topology(std::vector<cpu_facts>& cpus, const std::string& system);

}  // namespace detail

}  // namespace quintet
