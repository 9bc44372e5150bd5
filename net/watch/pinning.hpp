// SPDX-License-Identifier: BSL-1.0
// pinning: threads that stay on a CPU, and those that they start, which do not.
#pragma once

#include <array>
#include <cstddef>

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
  bool are_known_;                  // the thread is pinned
  std::array<std::byte, 128> set_;  // a cpu_set_t, whose header only Linux has
};

}  // namespace quintet
