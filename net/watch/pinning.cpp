// SPDX-License-Identifier: BSL-1.0
// pinning: the calls for it.
#include "pinning.hpp"

#include <pthread.h>

#include <cerrno>

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

inherited_cpus::inherited_cpus() noexcept : before_(before_pin) {}

// If the system refuses, the thread works where it is.
void inherited_cpus::use() const noexcept {
  if (before_) (void)::pthread_setaffinity_np(::pthread_self(), sizeof *before_, &*before_);
}

}  // namespace quintet
