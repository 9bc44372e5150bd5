// SPDX-License-Identifier: BSL-1.0
// rate_limit: counts the events that are not logged.
#include "rate_limit.hpp"

#include <utility>

namespace quintet {

std::optional<std::uint64_t> log_limit::take(time_point now) noexcept {
  const std::lock_guard lock(mutex_);
  if (rate_.wait(now) > duration::zero()) {
    ++missed_;
    return std::nullopt;
  }
  rate_.take(now);
  return std::exchange(missed_, 0);
}

std::string log_limit::with_count(std::string_view what, std::uint64_t missed) {
  return std::string(what) + " (and " + std::to_string(missed) + " more before it)";
}

}  // namespace quintet
