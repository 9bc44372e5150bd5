// SPDX-License-Identifier: BSL-1.0
// service: a secret is random, so that nobody can cancel the statements of others.
#include "service.hpp"

#include <limits>
#include <random>
#include <utility>

namespace postgres {

std::shared_ptr<const session_key> session_list::add(std::size_t most, std::function<void()> cancel) {
  const auto secret = static_cast<std::int32_t>(std::random_device()());
  const std::lock_guard lock(mutex_);
  if (all_.size() >= most) throw fatal_error("53300", "sorry, too many clients already");
  last_process_ = last_process_ == std::numeric_limits<std::int32_t>::max() ? 1 : last_process_ + 1;
  const auto added = all_.emplace(session_key{last_process_, secret}, std::move(cancel)).first;
  return {&added->first, [this](const session_key* key) { remove(*key); }};
}

void session_list::remove(const session_key& key) {
  const std::lock_guard lock(mutex_);
  all_.erase(key);
}

void session_list::cancel(const session_key& key) {
  const std::lock_guard lock(mutex_);
  const auto found = all_.find(key);
  if (found != all_.end()) found->second();
}

}  // namespace postgres
