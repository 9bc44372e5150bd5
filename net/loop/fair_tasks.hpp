// SPDX-License-Identifier: BSL-1.0
// fair_tasks: the long work of a loop, done a quantum at a time, so that other work runs in between.
#pragma once

#include <boost/intrusive/list.hpp>

#include <atomic>
#include <cstddef>

namespace quintet {

/// Long work of a loop, done a quantum at a time. A task leaves the queue when its quantum begins or it is destroyed.
class fair_task : public boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  /// [loop] Does one quantum of the work. A task with more to do schedules itself again.
  virtual void run_quantum() noexcept = 0;

 protected:
  ~fair_task() = default;
};

/// The queue of a loop's fair tasks, and the write quota of the loop's turn.
class fair_tasks {
 public:
  static constexpr std::size_t quantum = 64 * 1024;  ///< bytes written
  static constexpr unsigned quanta_per_turn = 4;

  /// [loop] Renews the write quota.
  void begin_turn() noexcept { written_ = 0; }
  /// [loop] Appends the task, unless it is in the queue. The caller keeps ownership. Never allocates.
  void schedule(fair_task& task) noexcept {
    if (!task.is_linked()) queue_.push_back(task);
  }
  [[nodiscard]] bool empty() const noexcept { return queue_.empty(); }
  /// [loop] Whether a task is in the queue, and other threads have begun enough of the quanta handed off to them.
  [[nodiscard]] bool can_run() const noexcept {
    return !empty() && handed_off_ - started_.load(std::memory_order_relaxed) < quanta_per_turn;
  }
  /// [loop] Runs tasks in the order of scheduling: at least one, and more while the write quota lasts. Runs none while
  /// can_run() is false. Returns whether a task ran.
  bool run_fair_tasks() noexcept;

  /// [loop] Counts bytes against the turn's write quota. Writers of large output call it.
  void count_written(std::size_t size) noexcept { written_ += size; }
  /// [loop] Whether the turn's write quota is not used up. Deferrable work checks it before writing.
  [[nodiscard]] bool has_quota() const noexcept { return written_ < quanta_per_turn * quantum; }

  /// [loop] Counts a quantum that is handed off to another thread. At most quanta_per_turn of them wait for a thread at
  /// once, so that new work does not queue behind them.
  void count_handed_off() noexcept { ++handed_off_; }
  /// [any thread] Counts a handed-off quantum as begun: from now on it delays no other work.
  void count_started() noexcept { started_.fetch_add(1, std::memory_order_relaxed); }
  /// [loop] Counts a quantum that was handed off and begun as finished.
  void count_finished() noexcept {
    --handed_off_;
    started_.fetch_sub(1, std::memory_order_relaxed);
  }

 private:
  boost::intrusive::list<fair_task, boost::intrusive::constant_time_size<false>> queue_;
  std::size_t written_ = 0;  // bytes written in this turn
  unsigned handed_off_ = 0;  // quanta handed off and not finished
  std::atomic<unsigned> started_{0};
};

}  // namespace quintet
