// SPDX-License-Identifier: BSL-1.0
// database: tables of rows that only grow, and cursors over them.
#pragma once

#include <quintet/base/bytes.hpp>

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

namespace tutorial {

/// [any thread] Rows are added at the end and never change, so a cursor may go on while others insert.
class table {
 public:
  void insert(quintet::bytes row);
  [[nodiscard]] std::size_t size() const;
  /// Returns copies of at most `most` rows from `at` on.
  [[nodiscard]] std::vector<std::string> rows(std::size_t at, std::size_t most) const;
  /// Returns how many rows contain `text`. Slow: it looks at all of them.
  [[nodiscard]] std::size_t count(quintet::bytes text) const;

 private:
  mutable std::shared_mutex mutex_;
  std::deque<std::string> rows_;
};

/// The rows that a table had when the cursor was made, a batch at a time. It holds no lock between two batches, so a
/// client that reads slowly delays nobody. One connection owns it.
class cursor {
 public:
  cursor(std::shared_ptr<const table> of, std::size_t from);
  /// Returns the next rows; none at the end.
  [[nodiscard]] std::vector<std::string> next();
  /// Returns the number of the next row.
  [[nodiscard]] std::size_t position() const noexcept { return at_; }

 private:
  static constexpr std::size_t rows_at_once = 32;

  std::shared_ptr<const table> table_;
  std::size_t at_, end_;
};

/// [any thread] All tables, and the sum of their bytes.
class database {
 public:
  explicit database(std::size_t most_bytes = 256 << 20) noexcept : most_bytes_(most_bytes) {}

  /// Adds a row, and the table if it is new. Returns false, without a change, if the database is full.
  [[nodiscard]] bool insert(quintet::bytes name, quintet::bytes row);
  /// Returns nullptr if there is no such table.
  [[nodiscard]] std::shared_ptr<const table> find(quintet::bytes name) const;
  /// Return numbers without a lock, for the admin port.
  [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::size_t held_bytes() const noexcept { return bytes_; }

 private:
  std::shared_ptr<table> find_or_add(quintet::bytes name);

  const std::size_t most_bytes_;
  std::atomic<std::size_t> rows_{0}, bytes_{0};
  mutable std::mutex mutex_;  // of the map; each table has a lock of its own
  std::map<std::string, std::shared_ptr<table>, std::less<>> tables_;
};

}  // namespace tutorial
