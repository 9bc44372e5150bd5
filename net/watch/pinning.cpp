// SPDX-License-Identifier: BSL-1.0
// pinning: the calls for it.
#include "pinning.hpp"

#include <pthread.h>
#include <sched.h>

#include <cerrno>
#include <cstring>
#include <optional>

namespace quintet {
namespace {

thread_local std::optional<cpu_set_t> before_pin;

}  // namespace

int stay_on(int cpu) noexcept {
  cpu_set_t only, now;
  CPU_ZERO(&only);
  if (cpu < 0 || cpu >= CPU_SETSIZE) return EINVAL;
  CPU_SET(static_cast<unsigned>(cpu), &only);
  if (const int error = ::pthread_getaffinity_np(::pthread_self(), sizeof now, &now)) return error;
  if (!before_pin) before_pin = now;
  if (const int error = ::pthread_setaffinity_np(::pthread_self(), sizeof only, &only)) return error;
  // Read back: a cpuset of the process may have overridden it.
  if (const int error = ::pthread_getaffinity_np(::pthread_self(), sizeof now, &now)) return error;
  return CPU_EQUAL(&now, &only) ? 0 : EBUSY;
}

static_assert(sizeof(cpu_set_t) == sizeof(std::array<std::byte, 128>));

inherited_cpus::inherited_cpus() noexcept : are_known_(before_pin.has_value()), set_{} {
  if (are_known_) std::memcpy(set_.data(), &*before_pin, set_.size());
}

// If the system refuses, the thread works where it is.
void inherited_cpus::use() const noexcept {
  if (!are_known_) return;
  cpu_set_t set;
  std::memcpy(&set, set_.data(), set_.size());
  (void)::pthread_setaffinity_np(::pthread_self(), sizeof set, &set);
}

}  // namespace quintet
