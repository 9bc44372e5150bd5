// SPDX-License-Identifier: BSL-1.0
// handle_table: what an engine keeps for each handle, found by the handle's number.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace quintet {

/// Handles are small numbers: the kernel gives the lowest that is free. The table grows and never shrinks.
template <class T>
class handle_table {
 public:
  /// Makes room, so that set() cannot fail. Throws std::bad_alloc.
  void reserve_for(int handle) {
    const std::size_t at = place(handle);
    if (entries_.size() <= at) entries_.resize(std::max(at + 1, 2 * entries_.size()));
  }
  void set(int handle, T* entry) noexcept { entries_[place(handle)] = entry; }
  /// Nothing where there is no entry. Any number may be asked for.
  [[nodiscard]] T* find(int handle) const noexcept {
    return handle >= 0 && place(handle) < entries_.size() ? entries_[place(handle)] : nullptr;
  }
  /// Removes the entry and returns it. There must have been one for this handle.
  [[nodiscard]] T* take(int handle) noexcept { return std::exchange(entries_[place(handle)], nullptr); }
  void clear() noexcept { entries_.clear(); }

 private:
  static std::size_t place(int handle) noexcept { return static_cast<std::size_t>(handle); }
  std::vector<T*> entries_;
};

}  // namespace quintet
