// SPDX-License-Identifier: BSL-1.0
// store: lifetimes, counters, and what removes keys.
#include "store.hpp"

#include <algorithm>

namespace kv {

store::set_result store::set(bytes text, bytes to, const set_options& options) {
  const hashed_key key(text);
  content fresh(to);
  shard& s = shard_of(key);
  {
    const std::lock_guard lock(s.mutex);
    const set_result first = try_set(s, key, fresh, options);
    if (first != set_result::store_full) return first;
  }
  for (shard& each : shards_) {
    const std::lock_guard lock(each.mutex);
    remove_ended(each);
  }
  const std::lock_guard lock(s.mutex);
  return try_set(s, key, fresh, options);
}

store::set_result store::try_set(shard& s, const hashed_key& key, content& fresh, const set_options& options) {
  using enum set_options::when;
  auto found = s.entries.find(key);
  if (found != s.entries.end() && has_ended(s, found->second)) {
    remove(s, found);
    found = s.entries.end();
  }
  if (options.condition == (found == s.entries.end() ? key_exists : key_is_new)) return set_result::condition_failed;
  if (!options.lifetime) return put(s, key, fresh) ? set_result::stored : set_result::store_full;

  if (!hold(timer_cost, 0)) return set_result::store_full;
  const auto end = s.ends.emplace(quintet::later(clock_.now(), *options.lifetime), bytes());
  const auto undo = [&] {
    s.ends.erase(end);
    held_.fetch_sub(timer_cost, std::memory_order_relaxed);
  };
  try {
    if (!put(s, key, fresh)) return undo(), set_result::store_full;
  } catch (...) {
    undo();
    throw;
  }
  found = s.entries.find(key);
  end->second = found->first;
  found->second.end = end;
  return set_result::stored;
}

bool store::add(shard& s, const hashed_key& key, content& fresh, std::size_t cost) {
  if (!hold(cost, 0)) return false;
  try {
    entry e{std::string(fresh.large ? bytes() : fresh.text), fresh.large, s.ends.end()};
    s.entries.emplace(key.text, std::move(e));
  } catch (...) {
    held_.fetch_sub(cost, std::memory_order_relaxed);
    throw;
  }
  return true;
}

void store::remove(shard& s, const position& which) {
  held_.fetch_sub(cost(s, which), std::memory_order_relaxed);
  if (which->second.end != s.ends.end()) s.ends.erase(which->second.end);
  s.entries.erase(which);
}

void store::remove_ended(shard& s) {
  while (!s.ends.empty() && s.ends.begin()->first <= clock_.now())
    remove(s, s.entries.find(hashed_key(s.ends.begin()->second)));
}

bool store::erase(bytes text) {
  const hashed_key key(text);
  shard& s = shard_of(key);
  const std::lock_guard lock(s.mutex);
  const auto found = s.entries.find(key);
  if (found == s.entries.end()) return false;
  const bool existed = !has_ended(s, found->second);
  remove(s, found);
  return existed;
}

void store::clear() {
  for (shard& s : shards_) {
    const std::lock_guard lock(s.mutex);
    for (auto each = s.entries.begin(); each != s.entries.end(); ++each)
      held_.fetch_sub(cost(s, each), std::memory_order_relaxed);
    s.entries.clear();
    s.ends.clear();
  }
}

std::pair<std::int64_t, store::increment_error> store::increment(bytes text, std::int64_t by) {
  const hashed_key key(text);
  shard& s = shard_of(key);
  const std::lock_guard lock(s.mutex);
  const auto found = s.entries.find(key);
  const bool is_new = found == s.entries.end() || has_ended(s, found->second);
  const auto before =
      is_new ? std::optional<std::int64_t>(0) : to_integer(found->second.large ? bytes() : bytes(found->second.small));
  if (!before) return {0, increment_error::not_a_number};
  std::int64_t after = 0;
  if (__builtin_add_overflow(*before, by, &after)) return {0, increment_error::overflow};
  const std::string number = std::to_string(after);
  if (is_new) {
    content fresh(number);
    if (!put(s, key, fresh)) return {0, increment_error::store_full};
    return {after, increment_error::none};
  }
  std::string& held = found->second.small;
  held.reserve(number.size());
  if (!hold(number.size(), held.size())) return {0, increment_error::store_full};
  held.assign(number);  // the lifetime remains
  return {after, increment_error::none};
}

store::counts store::count() {
  counts all;
  for (shard& s : shards_) {
    const std::lock_guard lock(s.mutex);
    remove_ended(s);
    all.keys += s.entries.size();
    all.with_lifetime += s.ends.size();
  }
  return all;
}

std::size_t store::fullest_bucket() {
  std::size_t most = 0;
  for (shard& s : shards_) {
    const std::lock_guard lock(s.mutex);
    for (std::size_t i = 0; i < s.entries.bucket_count(); ++i) most = std::max(most, s.entries.bucket_size(i));
  }
  return most;
}

}  // namespace kv
