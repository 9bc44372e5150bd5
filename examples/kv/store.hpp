// SPDX-License-Identifier: BSL-1.0
// store: keys and values in shards, each under a lock of its own, since handlers of several threads share it.
#pragma once

#include "keyed_hash.hpp"
#include "resp.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace kv {

/// Values do not change but are replaced, so that a reader needs the lock only to take hold of one: writing a reply may
/// wait for a slow client, and nobody else should wait with it.
/// [any thread]
class store {
 public:
  using value = std::shared_ptr<const std::string>;

  /// The value, or nullptr.
  [[nodiscard]] value get(bytes key) {
    shard& s = shard_of(key);
    const std::lock_guard lock(s.mutex);
    const auto found = s.values.find(key);
    return found == s.values.end() ? nullptr : found->second;
  }

  void set(bytes key, bytes to) {
    value fresh = std::make_shared<const std::string>(to);
    shard& s = shard_of(key);
    const std::lock_guard lock(s.mutex);
    slot(s, key).swap(fresh);  // the old value goes after the lock has been given back
  }

  bool erase(bytes key) {
    shard& s = shard_of(key);
    const std::lock_guard lock(s.mutex);
    const auto found = s.values.find(key);
    if (found == s.values.end()) return false;
    s.values.erase(found);
    return true;
  }

  /// Keys in the fullest bucket of all: what a lookup compares at most.
  [[nodiscard]] std::size_t fullest_bucket() {
    std::size_t most = 0;
    for (shard& s : shards_) {
      const std::lock_guard lock(s.mutex);
      for (std::size_t i = 0; i < s.values.bucket_count(); ++i) most = std::max(most, s.values.bucket_size(i));
    }
    return most;
  }

  enum class increment_error { none, not_a_number, overflow };
  /// Adds one to a number, which is 0 when the key is new.
  std::pair<std::int64_t, increment_error> increment(bytes key) {
    shard& s = shard_of(key);
    const std::lock_guard lock(s.mutex);
    const auto found = s.values.find(key);
    const auto before = found == s.values.end() ? std::optional<std::int64_t>(0) : to_integer(*found->second);
    if (!before) return {0, increment_error::not_a_number};
    if (*before == INT64_MAX) return {0, increment_error::overflow};
    slot(s, key) = std::make_shared<const std::string>(std::to_string(*before + 1));
    return {*before + 1, increment_error::none};
  }

 private:
  /// Finds by a view, without making a string of it.
  struct hash {
    using is_transparent = void;
    std::size_t operator()(bytes key) const noexcept { return keyed_hash(key); }
  };
  struct alignas(64) shard {
    std::mutex mutex;
    std::unordered_map<std::string, value, hash, std::equal_to<>> values;
  };
  static value& slot(shard& s, bytes key) {
    const auto found = s.values.find(key);
    return found != s.values.end() ? found->second : s.values.emplace(key, nullptr).first->second;
  }
  // By the hash's upper bits: the lower ones choose the bucket within the shard.
  shard& shard_of(bytes key) noexcept { return shards_[hash()(key) >> 58]; }

  std::array<shard, 64> shards_;
  static_assert(sizeof(std::size_t) == 8);
};

}  // namespace kv
