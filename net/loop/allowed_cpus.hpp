// SPDX-License-Identifier: BSL-1.0
// allowed_cpus: the CPUs that the calling thread may use.
#pragma once

#include <sched.h>

#include <vector>

namespace quintet {

/// [any thread] Returns the CPUs of the calling thread. Empty if the system has more CPUs than a cpu_set_t holds.
[[nodiscard]] inline cpu_set_t allowed_cpu_set() noexcept {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) CPU_ZERO(&allowed);
  return allowed;
}

/// [any thread] Returns the same CPUs in ascending order. Allocates.
[[nodiscard]] inline std::vector<int> allowed_cpus() {
  const cpu_set_t allowed = allowed_cpu_set();
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(static_cast<unsigned>(cpu), &allowed)) cpus.push_back(cpu);
  return cpus;
}

}  // namespace quintet
