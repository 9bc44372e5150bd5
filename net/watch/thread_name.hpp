// SPDX-License-Identifier: BSL-1.0
// thread_name: the name of a thread, as ps, perf and the log show it.
#pragma once

#include <pthread.h>

#include <array>
#include <string>

namespace quintet {

/// [any thread] Names the calling thread. At most 15 characters are kept.
inline void name_this_thread(const std::string& name) noexcept {
  (void)::pthread_setname_np(::pthread_self(), name.substr(0, 15).c_str());
}

/// [any thread] Returns the name of a thread that has not ended; empty if the system does not tell it.
[[nodiscard]] inline std::string name_of_thread(pthread_t thread) {
  std::array<char, 16> name{};
  return ::pthread_getname_np(thread, name.data(), name.size()) == 0 ? name.data() : std::string();
}

}  // namespace quintet
