// SPDX-License-Identifier: BSL-1.0
// store: the table kv: texts by number. Begin the storage of your own database here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <shared_mutex>
#include <string>
#include <utility>

namespace postgres {

/// [any thread] Each function holds a lock for one short step.
class store {
 public:
  explicit store(std::size_t most_bytes = 256 << 20) noexcept : most_bytes_(most_bytes) {}

  /// Return whether a row was changed. Throw sql_error: 23505 if insert()'s key exists, 53100 if the store is full.
  bool insert(std::int64_t key, std::string text);
  bool update(std::int64_t key, std::string text);
  [[nodiscard]] std::optional<std::string> find(std::int64_t key) const;
  /// Returns the row with the least key from `from` on. A cursor keeps this key, so it needs no lock between two rows.
  [[nodiscard]] std::optional<std::pair<std::int64_t, std::string>> first_from(std::int64_t from) const;

 private:
  void make_room(std::size_t size);

  const std::size_t most_bytes_;
  mutable std::shared_mutex mutex_;
  std::size_t bytes_ = 0;
  std::map<std::int64_t, std::string> rows_;
};

}  // namespace postgres
