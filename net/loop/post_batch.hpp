// SPDX-License-Identifier: BSL-1.0
// post_batch: joins a thread's posts to a loop, so that all of them cost one wake-up.
#pragma once

#include "../../base/work/thin_mutex.hpp"
#include "../../base/work/work_item.hpp"

namespace quintet {

class event_loop;

/// Collects the items that post() is given on the thread that made this object. The loop sees no item before
/// post_all(). The thread must call post_all() before any operation that may take long. If such an operation has begun
/// unnoticed, another thread may call it.
class post_batch {
 public:
  static constexpr unsigned most = 64;  ///< items kept before they are posted

  post_batch() noexcept { of_this_thread = this; }
  ~post_batch() {
    post_all();
    of_this_thread = nullptr;
  }
  post_batch(const post_batch&) = delete;
  post_batch& operator=(const post_batch&) = delete;

  /// [any thread] Adds the item to the batch of the calling thread. Without a batch, calls loop.post(item). Until the
  /// item is posted, it must keep the loop alive.
  static void post(event_loop& loop, work_item& item) noexcept;
  /// [any thread] Posts all items. Returns whether there were any.
  bool post_all() noexcept;

 private:
  static inline constinit thread_local post_batch* of_this_thread = nullptr;
  bool post_locked() noexcept;

  thin_mutex mutex_;            // contended only by another thread that posts for this one
  event_loop* loop_ = nullptr;  // the loop of all kept items
  work_fifo items_;
  unsigned count_ = 0;
};

}  // namespace quintet
