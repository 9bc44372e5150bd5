// SPDX-License-Identifier: BSL-1.0
// handle_table: maps a handle's number to the engine's entry for it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace quintet {

/// A vector, since handles are small: the kernel assigns the lowest free number. It never shrinks, and owns no entry.
template <class T>
class handle_table {
 public:
  /// Makes room, so that set() cannot fail. Throws std::bad_alloc.
  void reserve_for(int handle) {
    const std::size_t at = place(handle);
    if (entries_.size() <= at) entries_.resize(std::max(at + 1, 2 * entries_.size()));
  }
  void set(int handle, T* entry) noexcept { entries_[place(handle)] = entry; }
  /// Returns nullptr if `handle`, which may be any number, has no entry.
  [[nodiscard]] T* find(int handle) const noexcept {
    return handle >= 0 && place(handle) < entries_.size() ? entries_[place(handle)] : nullptr;
  }
  /// Removes and returns the entry, which must exist.
  [[nodiscard]] T* take(int handle) noexcept { return std::exchange(entries_[place(handle)], nullptr); }
  void clear() noexcept { entries_.clear(); }

 private:
  static std::size_t place(int handle) noexcept { return static_cast<std::size_t>(handle); }
  std::vector<T*> entries_;
};

}  // namespace quintet
