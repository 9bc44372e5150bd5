// SPDX-License-Identifier: BSL-1.0
// post_batch: posts of one thread to a loop that go together: one wake-up of the loop for all of them.
#pragma once

#include "../../base/work/work_item.hpp"

#include <mutex>

namespace quintet {

class event_loop;

/// Belongs to the thread that made it, while it lives. post() on that thread collects items there instead of posting
/// each. The loop sees nothing before post_all(), so the thread must call that before it does anything that may take
/// long. Where the thread has begun such a thing unawares, another thread may call post_all().
class post_batch {
 public:
  static constexpr unsigned most = 64;  ///< kept at once

  post_batch() noexcept { of_this_thread = this; }
  ~post_batch() {
    post_all();
    of_this_thread = nullptr;
  }
  post_batch(const post_batch&) = delete;
  post_batch& operator=(const post_batch&) = delete;

  /// [any thread] Adds the item to the batch of the calling thread. Without a batch, the same as loop.post(item). Until
  /// it is posted, the item must keep the loop alive.
  static void post(event_loop& loop, work_item& item) noexcept;
  /// [any thread] Returns whether there was anything.
  bool post_all() noexcept;

 private:
  static inline constinit thread_local post_batch* of_this_thread = nullptr;
  void add(event_loop& loop, work_item& item) noexcept;
  bool post_locked() noexcept;

  std::mutex mutex_;
  event_loop* loop_ = nullptr;  // of all that is kept
  work_fifo items_;
  unsigned count_ = 0;
};

}  // namespace quintet
