// SPDX-License-Identifier: BSL-1.0
// store: each function checks everything before it changes anything.
#include "store.hpp"

#include "protocol.hpp"

#include <mutex>

namespace postgres {

void store::make_room(std::size_t size) {
  constexpr std::size_t cost_of_row = 100;  // about what a row takes beside its text
  if (bytes_ + size + rows_.size() * cost_of_row > most_bytes_) throw sql_error("53100", "the table kv is full");
}

bool store::insert(std::int64_t key, std::string text) {
  const std::unique_lock lock(mutex_);
  if (rows_.contains(key)) throw sql_error("23505", "duplicate key value violates unique constraint \"kv_pkey\"");
  make_room(text.size());
  bytes_ += rows_.emplace(key, std::move(text)).first->second.size();
  return true;
}

bool store::update(std::int64_t key, std::string text) {
  const std::unique_lock lock(mutex_);
  const auto found = rows_.find(key);
  if (found == rows_.end()) return false;
  make_room(text.size());
  bytes_ = bytes_ - found->second.size() + text.size();
  found->second = std::move(text);
  return true;
}

std::optional<std::string> store::find(std::int64_t key) const {
  const std::shared_lock lock(mutex_);
  const auto found = rows_.find(key);
  return found == rows_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::pair<std::int64_t, std::string>> store::first_from(std::int64_t from) const {
  const std::shared_lock lock(mutex_);
  const auto found = rows_.lower_bound(from);
  return found == rows_.end() ? std::nullopt : std::optional(std::pair(*found));
}

}  // namespace postgres
