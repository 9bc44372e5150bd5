// SPDX-License-Identifier: BSL-1.0
// pool_entrance: where a loop hands work to a pool: the cheap items of a turn together; and looks after what waits.
#pragma once

#include "../../base/work/timer_queue.hpp"
#include "../../base/work/work_item.hpp"
#include "../../net/loop/event_loop.hpp"

namespace quintet {

class worker_pool;

/// Of one pool and one loop; used on the loop's thread. The pool owns it, and goes when nobody runs the loop any more.
class pool_entrance final : private work_item, private timer {
 public:
  static constexpr unsigned most = 64;  ///< gathered; then they do not wait for the end of the turn
  /// So long after the last hand-over the pool is asked to look whether a cheap item has turned out to be expensive,
  /// and as long as there is work that nobody is free for: sooner where that may make it grow. Not at all for an item
  /// for which a worker was woken: an idle loop is not woken. Not shorter: a loop that sleeps towards a deadline before
  /// the system's next tick pays for setting the clock.
  static constexpr duration patience = std::chrono::milliseconds(10);

  pool_entrance(worker_pool& pool, event_loop& loop) noexcept
      : work_item(&pool_entrance::turn_ends), pool_(pool), loop_(loop) {}

  /// [loop] Gathers a cheap item until the end of the turn. Hands an expensive one off at once.
  void add(work_item& item) noexcept;

 private:
  static void turn_ends(work_item& item) noexcept;
  void hand_over() noexcept;
  void hand_over_at_once(work_item& item) noexcept;
  void look_again_in(duration after) noexcept;
  void expired() noexcept override;

  worker_pool& pool_;
  event_loop& loop_;
  work_fifo items_;
  unsigned count_ = 0;
  bool due_ = false;
};

}  // namespace quintet
