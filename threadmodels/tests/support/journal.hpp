// SPDX-License-Identifier: BSL-1.0
// journal: a log hook that stores its events as text.
#pragma once

#include <quintet/base/log.hpp>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

namespace quintet::test {

/// [any thread]
class journal {
 public:
  log_hook hook() {
    return [this](const log_event& e) {
      const std::lock_guard lock(mutex_);
      lines_.push_back(std::string(to_string(e.level)) + ": " + to_string(e));
    };
  }
  /// Returns whether a line begins with `begin` and contains `part`.
  bool has(const std::string& begin, const std::string& part) const {
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(
        lines_, [&](const auto& l) { return l.starts_with(begin) && l.find(part) != std::string::npos; });
  }
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return lines_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

}  // namespace quintet::test
