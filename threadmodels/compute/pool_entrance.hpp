// SPDX-License-Identifier: BSL-1.0
// pool_entrance: hands a loop's work to a pool, the cheap items of a turn together, and checks on waiting work.
#pragma once

#include "../../base/work/timer_queue.hpp"
#include "../../base/work/work_item.hpp"
#include "../../net/loop/event_loop.hpp"

namespace quintet {

class worker_pool;

/// Belongs to one pool and one loop. Used on the loop's thread. The pool owns it, and is destroyed after the loop has
/// stopped running.
class pool_entrance final : private work_item, private timer {
 public:
  static constexpr unsigned most = 64;  ///< items gathered; then they are handed over before the end of the turn
  /// The longest time from a handoff to the check on it, and between checks. A check finds cheap items that turn out
  /// to be expensive, and work that waits for a free worker. It is earlier if it may add a thread. A single item for
  /// which a worker was woken needs no check: an idle loop is not woken. A shorter time costs more: the kernel must set
  /// a timer for a deadline before its next tick.
  static constexpr duration patience = std::chrono::milliseconds(10);

  pool_entrance(worker_pool& pool, event_loop& loop) noexcept
      : work_item(&pool_entrance::turn_ends), pool_(pool), loop_(loop) {}

  /// [loop] Gathers a cheap item until the end of the turn. Hands an expensive one off at once.
  void add(work_item& item) noexcept;

 private:
  static void turn_ends(work_item& item) noexcept;
  void submit_batch() noexcept;
  void submit_at_once(work_item& item) noexcept;
  void schedule_check(duration after) noexcept;
  void expired() noexcept override;

  worker_pool& pool_;
  event_loop& loop_;
  work_fifo items_;
  unsigned count_ = 0;
  bool due_ = false;
};

}  // namespace quintet
