// SPDX-License-Identifier: BSL-1.0
// pinning: threads that stay on a CPU, and those that they start, which do not.
#pragma once

#include <sched.h>

#include <optional>

namespace quintet {

/// [any thread] Keeps the calling thread on this CPU. Returns 0 or errno.
[[nodiscard]] int stay_on(int cpu) noexcept;

/// The CPUs that a pinned thread had before. A thread that it starts would inherit its pin, and compete with it.
class inherited_cpus {
 public:
  /// [any thread] Of the calling thread, which is about to start another.
  inherited_cpus() noexcept;
  /// [any thread] Gives them to the calling thread, the new one.
  void use() const noexcept;

 private:
  std::optional<cpu_set_t> before_;  // none: it is not pinned
};

}  // namespace quintet
