// SPDX-License-Identifier: BSL-1.0
// heard: what handlers note of what they hear.
#pragma once

#include <quintet/net/loop/cancellation.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace quintet::test {

/// [any thread]
struct heard_journal {
  void note(std::string what) {
    const std::lock_guard lock(mutex);
    lines.push_back(std::move(what));
  }
  std::vector<std::string> all() {
    const std::lock_guard lock(mutex);
    return lines;
  }
  /// Returns whether this has been noted, once.
  bool has(const std::string& what) {
    const auto noted = all();
    return std::count(noted.begin(), noted.end(), what) == 1;
  }
  std::mutex mutex;
  std::vector<std::string> lines;
};

inline std::string name_of(cancel_reason why) {
  constexpr std::array names{"none",       "stopped",     "drain_deadline", "aborted",   "drain",   "peer_finished",
                             "peer_reset", "slow_reader", "failed",         "cancelled", "deadline"};
  return names.at(static_cast<std::size_t>(why));
}

}  // namespace quintet::test
