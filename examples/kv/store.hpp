// SPDX-License-Identifier: BSL-1.0
// store: keys and values in shards, each with its own lock, because handlers of several threads share the store.
#pragma once

#include "keyed_hash.hpp"
#include "resp.hpp"

#include <quintet/base/bytes.hpp>
#include <quintet/base/clock.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace kv {

/// Conditions of a SET, and the time after which its value is gone.
struct set_options {
  enum class when { always, key_is_new, key_exists };
  when condition = when::always;
  std::optional<quintet::duration> lifetime{};
};

/// A value as a reader gets it: a copy of a small one, a share of a larger one. False if there is none.
class value {
 public:
  static constexpr std::size_t small = 64;  ///< bytes of the largest value that is copied
  value() noexcept = default;
  explicit value(quintet::shared_bytes large) noexcept : shared_(std::move(large)) {}
  explicit value(bytes text) noexcept : size_(text.size()) { text.copy(copy_.data(), small); }

  explicit operator bool() const noexcept { return shared_ || size_ != none; }
  bytes operator*() const noexcept { return shared_ ? bytes(*shared_) : bytes(copy_.data(), size_); }
  /// The owner of a large value; nullptr for a small one.
  [[nodiscard]] quintet::shared_bytes& shared() noexcept { return shared_; }

 private:
  static constexpr std::size_t none = SIZE_MAX;
  quintet::shared_bytes shared_;
  std::size_t size_ = none;
  std::array<char, small> copy_;
};

/// [any thread] A large value is immutable and replaced as a whole, so a reader needs the lock only to copy a pointer.
/// A reply to a slow client therefore delays nobody else. A small value is overwritten in its place.
class store {
 public:
  /// `most`: limit of the bytes of all keys and values, plus `entry_cost` bytes per entry, and `timer_cost` per
  /// lifetime. The clock must outlive the store.
  explicit store(std::size_t most = SIZE_MAX, const quintet::clock& time = quintet::clock::system()) noexcept
      : most_(most), clock_(time) {}
  static constexpr std::size_t entry_cost = 128, timer_cost = 64;

  /// Later changes of the key do not change the result.
  [[nodiscard]] value get(bytes text) {
    const hashed_key key(text);
    shard& s = shard_of(key);
    const std::lock_guard lock(s.mutex);
    const auto found = s.entries.find(key);
    if (found == s.entries.end() || has_ended(s, found->second)) return {};
    const entry& e = found->second;
    return e.large ? value(e.large) : value(e.small);
  }

  /// Stores a value without a lifetime. Returns false, without a change, if the store's limit would be exceeded.
  bool set(bytes text, bytes to) {
    const hashed_key key(text);
    content fresh(to);
    shard& s = shard_of(key);
    {
      const std::lock_guard lock(s.mutex);
      if (put(s, key, fresh)) return true;  // a large old value is destroyed after the lock is released
    }
    return set(text, to, {}) == set_result::stored;
  }

  enum class set_result { stored, condition_failed, store_full };
  /// If there is no room, erases what has reached its end, and tries again.
  set_result set(bytes key, bytes to, const set_options& options);

  bool erase(bytes key);
  /// Erases everything.
  void clear();

  enum class increment_error { none, not_a_number, overflow, store_full };
  /// Adds to a number, which is 0 if the key is new. Its lifetime remains. Returns the new number, or an error.
  std::pair<std::int64_t, increment_error> increment(bytes key, std::int64_t by = 1);

  /// Returns the bytes of all entries, counted as for the limit.
  [[nodiscard]] std::size_t held() const noexcept { return held_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t limit() const noexcept { return most_; }
  struct counts {
    std::size_t keys = 0, with_lifetime = 0;
  };
  /// Counts the keys, without those that have reached their end.
  [[nodiscard]] counts count();
  /// Returns the number of keys in the fullest bucket, the maximum of comparisons in a lookup.
  [[nodiscard]] std::size_t fullest_bucket();

 private:
  /// A key and its hash, which chooses the shard, and the bucket within the shard.
  struct hashed_key {
    explicit hashed_key(bytes key) noexcept : text(key), hash(keyed_hash(key)) {}
    bytes text;
    std::uint64_t hash;
    friend bool operator==(const hashed_key& a, bytes b) noexcept { return a.text == b; }
  };
  /// Allows lookups without a std::string.
  struct hash {
    using is_transparent = void;
    std::size_t operator()(bytes key) const noexcept { return keyed_hash(key); }
    std::size_t operator()(const hashed_key& key) const noexcept { return key.hash; }
  };
  /// A value to be stored. Its memory is allocated before the lock is taken.
  struct content {
    explicit content(bytes to)
        : text(to), large(text.size() > value::small ? std::make_shared<const std::string>(text) : nullptr) {}
    bytes text;
    quintet::shared_bytes large;
  };
  using timers = std::multimap<quintet::time_point, bytes>;  // ends of lifetimes, and the keys in `entries`
  struct entry {
    std::string small;            // up to value::small bytes
    quintet::shared_bytes large;  // or more
    timers::iterator end;         // timers.end(): it has no lifetime
    [[nodiscard]] std::size_t size() const noexcept { return large ? large->size() : small.size(); }
  };
  struct alignas(64) shard {
    std::mutex mutex;
    std::unordered_map<std::string, entry, hash, std::equal_to<>> entries;
    timers ends;
  };
  using position = decltype(shard::entries)::iterator;

  // The caller of these must hold the shard's lock.
  [[nodiscard]] bool has_ended(const shard& s, const entry& e) const {
    return e.end != s.ends.end() && e.end->first <= clock_.now();
  }
  [[nodiscard]] static std::size_t cost(const shard& s, const position& of) noexcept {
    return of->first.size() + of->second.size() + entry_cost + (of->second.end == s.ends.end() ? 0 : timer_cost);
  }
  /// On success `fresh` holds the replaced value, if that was large.
  bool put(shard& s, const hashed_key& key, content& fresh) {
    const auto found = s.entries.find(key);
    const std::size_t after = key.text.size() + fresh.text.size() + entry_cost;
    if (found == s.entries.end()) return add(s, key, fresh, after);
    entry& e = found->second;
    if (!fresh.large) e.small.reserve(fresh.text.size());  // may throw, so it comes before the effect
    if (!hold(after, cost(s, found))) return false;
    if (e.end != s.ends.end()) s.ends.erase(std::exchange(e.end, s.ends.end()));
    if (fresh.large)
      std::string().swap(e.small);
    else
      e.small.assign(fresh.text);
    e.large.swap(fresh.large);
    return true;
  }
  bool add(shard& s, const hashed_key& key, content& fresh, std::size_t cost);
  void remove(shard& s, const position& which);
  void remove_ended(shard& s);
  set_result try_set(shard& s, const hashed_key& key, content& fresh, const set_options& options);

  // A change that does not make an entry larger always succeeds.
  bool hold(std::size_t more, std::size_t less) noexcept {
    if (more == less) return true;
    const std::size_t held = held_.fetch_add(more - less, std::memory_order_relaxed) + more - less;
    if (more <= less || held <= most_) return true;
    held_.fetch_sub(more - less, std::memory_order_relaxed);
    return false;
  }
  // Uses the hash's upper bits; the lower ones choose the bucket within the shard.
  shard& shard_of(const hashed_key& key) noexcept { return shards_[key.hash >> 58U]; }

  const std::size_t most_;
  const quintet::clock& clock_;
  std::atomic<std::size_t> held_{0};
  std::array<shard, 64> shards_;
  static_assert(sizeof(std::size_t) == 8);
};

}  // namespace kv
