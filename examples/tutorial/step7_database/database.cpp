// SPDX-License-Identifier: BSL-1.0
// database: each function holds a lock for one short step.
#include "database.hpp"

#include <algorithm>
#include <utility>

namespace tutorial {

void table::insert(quintet::bytes row) {
  const std::unique_lock lock(mutex_);
  rows_.emplace_back(row);
}

std::size_t table::size() const {
  const std::shared_lock lock(mutex_);
  return rows_.size();
}

std::vector<std::string> table::rows(std::size_t at, std::size_t most) const {
  const std::shared_lock lock(mutex_);
  const std::size_t begin = std::min(at, rows_.size()), end = std::min(rows_.size(), begin + most);
  return {rows_.begin() + static_cast<std::ptrdiff_t>(begin), rows_.begin() + static_cast<std::ptrdiff_t>(end)};
}

// Takes the lock for some rows at a time, so that an insert waits for a part of the search only.
std::size_t table::count(quintet::bytes text) const {
  constexpr std::size_t at_once = 1024;
  std::size_t found = 0;
  for (std::size_t at = 0;; at += at_once) {
    const std::shared_lock lock(mutex_);
    const std::size_t end = std::min(rows_.size(), at + at_once);
    for (std::size_t i = at; i < end; ++i) found += rows_[i].find(text) != std::string::npos;
    if (end == rows_.size()) return found;
  }
}

cursor::cursor(std::shared_ptr<const table> of, std::size_t from)
    : table_(std::move(of)), at_(from), end_(table_->size()) {}

std::vector<std::string> cursor::next() {
  if (at_ >= end_) return {};
  std::vector<std::string> batch = table_->rows(at_, std::min(rows_at_once, end_ - at_));
  at_ += batch.size();
  return batch;
}

bool database::insert(quintet::bytes name, quintet::bytes row) {
  constexpr std::size_t row_cost = 64;  // about what a row takes besides its bytes
  const std::size_t more = row.size() + row_cost;
  if (bytes_.fetch_add(more) + more > most_bytes_) {
    bytes_ -= more;
    return false;
  }
  find_or_add(name)->insert(row);
  ++rows_;
  return true;
}

std::shared_ptr<const table> database::find(quintet::bytes name) const {
  const std::lock_guard lock(mutex_);
  const auto found = tables_.find(name);
  return found == tables_.end() ? nullptr : found->second;
}

std::shared_ptr<table> database::find_or_add(quintet::bytes name) {
  const std::lock_guard lock(mutex_);
  auto found = tables_.find(name);
  if (found == tables_.end()) found = tables_.emplace(name, std::make_shared<table>()).first;
  return found->second;
}

}  // namespace tutorial
