// SPDX-License-Identifier: BSL-1.0
// homecoming: batons that a worker has done with, and that go home together: one wake-up of their loop for all.
#pragma once

#include "../../base/work/work_item.hpp"

#include <mutex>

namespace quintet {

class event_loop;

/// A worker thread has one while it runs items of a pool; connections whose baton is given back on such a thread find
/// it by current(). What it holds is not seen by the loop, so the worker lets go of it before it does anything that
/// may take long: quick items follow each other, everything else is preceded by send_home(). Where an item that was
/// taken for quick is not, another thread calls that.
class homecoming {
 public:
  static constexpr unsigned most = 64;  ///< kept at once

  homecoming() noexcept { of_this_thread = this; }
  ~homecoming() {
    send_home();
    of_this_thread = nullptr;
  }
  homecoming(const homecoming&) = delete;
  homecoming& operator=(const homecoming&) = delete;

  /// The calling thread's, or nullptr.
  [[nodiscard]] static homecoming* current() noexcept { return of_this_thread; }
  /// Until send_home(), the item keeps the loop alive.
  void add(event_loop& loop, work_item& item) noexcept;
  /// [any thread] Whether there was anything.
  bool send_home() noexcept;

 private:
  static inline constinit thread_local homecoming* of_this_thread = nullptr;
  bool post_all() noexcept;

  std::mutex mutex_;
  event_loop* loop_ = nullptr;
  work_fifo items_;
  unsigned count_ = 0;
};

}  // namespace quintet
