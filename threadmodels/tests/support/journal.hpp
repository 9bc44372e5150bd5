// SPDX-License-Identifier: BSL-1.0
// journal: a log hook that stores its events as text, and fails the test if an event of a connection has no address.
#pragma once

#include <quintet/base/log.hpp>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <boost/test/unit_test.hpp>

namespace quintet::test {

/// [any thread]
class journal {
 public:
  journal() = default;
  journal(const journal&) = delete;
  journal& operator=(const journal&) = delete;
  ~journal() {
    for (const std::string& line : nameless_) BOOST_ERROR("an event of a connection has no address: " << line);
  }
  log_hook hook() {
    return [this](const log_event& e) {
      const std::lock_guard lock(mutex_);
      lines_.push_back(std::string(to_string(e.level)) + ": " + to_string(e));
      if (e.address.empty() && is_of_a_connection(e.what)) nameless_.push_back(lines_.back());
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
  static bool is_of_a_connection(std::string_view what) noexcept {
    return what.starts_with("a connection is") || what.starts_with("a handler threw") ||
           what.starts_with("cannot open");
  }

  mutable std::mutex mutex_;
  std::vector<std::string> lines_, nameless_;
};

}  // namespace quintet::test
