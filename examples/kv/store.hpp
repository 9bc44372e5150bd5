// SPDX-License-Identifier: BSL-1.0
// store: keys and values in shards, each with its own lock, because handlers of several threads share the store.
#pragma once

#include "keyed_hash.hpp"
#include "resp.hpp"

#include <quintet/base/bytes.hpp>

#include <algorithm>
#include <array>
#include <atomic>
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

/// [any thread] Values are immutable and replaced as a whole, so a reader needs the lock only to copy a pointer. A
/// reply to a slow client therefore delays nobody else.
class store {
 public:
  using value = quintet::shared_bytes;

  /// `most`: limit of the bytes of all keys and values, plus `entry_cost` bytes per entry.
  explicit store(std::size_t most = SIZE_MAX) noexcept : most_(most) {}
  static constexpr std::size_t entry_cost = 128;

  /// Returns the value, or nullptr.
  [[nodiscard]] value get(bytes key) {
    shard& s = shard_of(key);
    const std::lock_guard lock(s.mutex);
    const auto found = s.values.find(key);
    return found == s.values.end() ? nullptr : found->second;
  }

  /// Stores a value. Returns false, without a change, if the store's limit would be exceeded.
  bool set(bytes key, bytes to) {
    value fresh = std::make_shared<const std::string>(to);
    shard& s = shard_of(key);
    const std::lock_guard lock(s.mutex);
    return put(s, key, fresh);  // the old value is destroyed after the lock is released
  }

  bool erase(bytes key) {
    shard& s = shard_of(key);
    const std::lock_guard lock(s.mutex);
    const auto found = s.values.find(key);
    if (found == s.values.end()) return false;
    held_.fetch_sub(cost(key, *found->second), std::memory_order_relaxed);
    s.values.erase(found);
    return true;
  }

  /// Returns the bytes of all entries, counted as for the limit.
  [[nodiscard]] std::size_t held() const noexcept { return held_.load(std::memory_order_relaxed); }
  /// Returns the number of keys in the fullest bucket, the maximum of comparisons in a lookup.
  [[nodiscard]] std::size_t fullest_bucket() {
    std::size_t most = 0;
    for (shard& s : shards_) {
      const std::lock_guard lock(s.mutex);
      for (std::size_t i = 0; i < s.values.bucket_count(); ++i) most = std::max(most, s.values.bucket_size(i));
    }
    return most;
  }

  enum class increment_error { none, not_a_number, overflow, store_full };
  /// Adds one to a number, which is 0 if the key is new. Returns the new number, or an error.
  std::pair<std::int64_t, increment_error> increment(bytes key) {
    shard& s = shard_of(key);
    const std::lock_guard lock(s.mutex);
    const auto found = s.values.find(key);
    const auto before = found == s.values.end() ? std::optional<std::int64_t>(0) : to_integer(*found->second);
    if (!before) return {0, increment_error::not_a_number};
    if (*before == INT64_MAX) return {0, increment_error::overflow};
    value fresh = std::make_shared<const std::string>(std::to_string(*before + 1));
    if (!put(s, key, fresh)) return {0, increment_error::store_full};
    return {*before + 1, increment_error::none};
  }

 private:
  /// Allows lookups by a view, without a std::string.
  struct hash {
    using is_transparent = void;
    std::size_t operator()(bytes key) const noexcept { return keyed_hash(key); }
  };
  struct alignas(64) shard {
    std::mutex mutex;
    std::unordered_map<std::string, value, hash, std::equal_to<>> values;
  };
  static std::size_t cost(bytes key, bytes of) noexcept { return key.size() + of.size() + entry_cost; }

  // The caller must hold the lock. On success `fresh` becomes the replaced value, if there was one.
  bool put(shard& s, bytes key, value& fresh) {
    const auto found = s.values.find(key);
    const std::size_t before = found == s.values.end() ? 0 : cost(key, *found->second);
    const std::size_t after = cost(key, *fresh);
    if (!hold(after, before)) return false;
    if (found != s.values.end()) return found->second.swap(fresh), true;
    try {
      s.values.emplace(key, std::move(fresh));
    } catch (...) {
      held_.fetch_sub(after, std::memory_order_relaxed);
      throw;
    }
    return true;
  }
  // A change that does not make an entry larger always succeeds.
  bool hold(std::size_t more, std::size_t less) noexcept {
    const std::size_t held = held_.fetch_add(more - less, std::memory_order_relaxed) + more - less;
    if (more <= less || held <= most_) return true;
    held_.fetch_sub(more - less, std::memory_order_relaxed);
    return false;
  }
  // Uses the hash's upper bits; the lower ones choose the bucket within the shard.
  shard& shard_of(bytes key) noexcept { return shards_[hash()(key) >> 58]; }

  const std::size_t most_;
  std::atomic<std::size_t> held_{0};
  std::array<shard, 64> shards_;
  static_assert(sizeof(std::size_t) == 8);
};

}  // namespace kv
