// SPDX-License-Identifier: BSL-1.0
// thread_name: the name of a thread, as ps, perf and the log show it.
#pragma once

#include "../../base/error.hpp"
#include "pinning.hpp"

#include <pthread.h>

#include <array>
#include <concepts>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace quintet {

/// [any thread] Names the calling thread. At most 15 characters are kept.
inline void name_this_thread(const std::string& name) noexcept {
  (void)::pthread_setname_np(::pthread_self(), name.substr(0, 15).c_str());
}

/// [any thread] Starts a thread with this name, which calls `f`, on any CPU if the caller is pinned. Throws
/// boost::system::system_error with the name if the system refuses the thread.
template <std::invocable F>
[[nodiscard]] std::thread start_thread(const std::string& name, F f) {
  try {
    return std::thread([name, cpus = inherited_cpus(), f = std::move(f)]() mutable {
      name_this_thread(name);
      cpus.use();
      f();
    });
  } catch (const std::system_error& refused) {
    throw_system_error(refused.code().value(), "cannot start the thread " + name +
                                                   " (limits: ulimit -u and -v, the cgroup's pids.max and memory)");
  }
}

/// [any thread] Returns the name of a thread that has not ended; empty if the system does not tell it.
[[nodiscard]] inline std::string name_of_thread(pthread_t thread) {
  std::array<char, 16> name{};
  return ::pthread_getname_np(thread, name.data(), name.size()) == 0 ? name.data() : std::string();
}

}  // namespace quintet
