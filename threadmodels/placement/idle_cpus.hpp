// SPDX-License-Identifier: BSL-1.0
// idle_cpus: finds the least busy CPUs, on one NUMA node if possible.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace quintet {

/// Returns `count` of the candidates, or all of them if there are fewer; see choose_cpus(). Reads /proc/stat twice,
/// `looks_for` apart, and sleeps meanwhile. Reads cores and NUMA nodes from /sys. If the system reports neither,
/// returns the lowest numbers.
[[nodiscard]] std::vector<int> idlest_cpus(const std::vector<int>& candidates, std::size_t count,
                                           std::chrono::milliseconds looks_for = std::chrono::milliseconds(100));

namespace detail {

/// The load of a CPU, and where it is.
struct cpu_facts {
  int number = 0;
  int node = 0;     ///< NUMA node
  int core = 0;     ///< the first CPU of the same core
  double busy = 0;  ///< share of the measured time, 0 to 1
};

/// Chooses `count` CPUs, the least busy first. They share a node if one has enough; of several such nodes it takes the
/// least busy. Uses a core's second CPU only if each core already has one.
[[nodiscard]] std::vector<int> choose_cpus(const std::vector<cpu_facts>& all, std::size_t count);

/// Jiffies of a CPU, from /proc/stat.
struct cpu_ticks {
  double busy = 0, all = 0;
};
/// Returns the ticks of each of `cpus`, in that order. A CPU that the text does not list has zero.
[[nodiscard]] std::vector<cpu_ticks> ticks_of(const std::string& stat, const std::vector<int>& cpus);
/// Parses a list such as "0-3,8", in its order. Skips parts that are not numbers.
[[nodiscard]] std::vector<int> parse_cpu_list(std::string_view text);
/// Sets node and core of each CPU, from the files of a directory like /sys/devices/system.
void read_topology(std::vector<cpu_facts>& cpus, const std::string& system);

}  // namespace detail

}  // namespace quintet
