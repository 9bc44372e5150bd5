// SPDX-License-Identifier: BSL-1.0
// timer_queue: timers in order of deadline, without allocating; the tree's links live in the timers.
#pragma once

#include "../clock.hpp"

#include <boost/intrusive/set.hpp>

#include <cstdint>

namespace quintet {

class timer_queue;

/// A task for a point in time. Derive from it or use `callback_timer`. It leaves its queue when it fires, is cancelled
/// or is destroyed. Not synchronised: a timer belongs to the thread of its queue.
class timer : public boost::intrusive::set_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  timer() = default;
  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;

  [[nodiscard]] bool pending() const noexcept { return is_linked(); }
  [[nodiscard]] time_point deadline() const noexcept { return deadline_; }
  /// Cancels the timer; does nothing if it is not pending.
  void cancel() noexcept { unlink_if_pending(); }

 protected:
  virtual ~timer() = default;
  /// Runs after the deadline. The timer is no longer queued; this function may queue or destroy it.
  virtual void expired() noexcept = 0;

 private:
  friend class timer_queue;
  void unlink_if_pending() noexcept {
    if (is_linked()) unlink();
  }
  time_point deadline_{};
  std::uint64_t sequence_ = 0;
};

/// Timers by deadline; equal deadlines in the order of starting. A balanced tree (boost::intrusive), not a heap:
/// starting and cancelling are O(log n), and neither can fail.
class timer_queue {
 public:
  /// (Re)starts a timer.
  void start(timer& t, time_point deadline) noexcept {
    t.cancel();
    t.deadline_ = deadline;
    t.sequence_ = ++sequence_;
    tree_.insert(t);
  }
  [[nodiscard]] bool empty() const noexcept { return tree_.empty(); }
  /// Returns the earliest deadline; time_point::max() without timers.
  [[nodiscard]] time_point next() const noexcept { return empty() ? time_point::max() : first(); }
  /// The same; requires that there are timers.
  [[nodiscard]] time_point first() const noexcept { return tree_.begin()->deadline_; }

  /// Fires the timers that had expired at `now` when the call began; returns how many. A timer started meanwhile waits
  /// for the next call even if it has expired, so that the queue cannot starve its loop. Not inlined: most turns of a
  /// loop have nothing to expire, and take four instructions less.
  [[gnu::noinline]] std::size_t expire(time_point now) noexcept {
    const std::uint64_t newest = sequence_;
    std::size_t fired = 0;
    for (auto it = tree_.begin(); it != tree_.end() && it->deadline_ <= now;) {
      if (it->sequence_ > newest) {
        ++it;
        continue;
      }
      timer& due = *it;
      due.unlink();
      due.expired();
      ++fired;
      it = tree_.begin();  // the callback may have cancelled or destroyed any other timer
    }
    return fired;
  }

 private:
  struct earlier {
    bool operator()(const timer& a, const timer& b) const noexcept {
      return a.deadline_ != b.deadline_ ? a.deadline_ < b.deadline_ : a.sequence_ < b.sequence_;
    }
  };
  boost::intrusive::multiset<timer, boost::intrusive::compare<earlier>, boost::intrusive::constant_time_size<false>>
      tree_;
  std::uint64_t sequence_ = 0;
};

/// A timer that calls a function object.
template <class F>
class callback_timer final : public timer {
 public:
  explicit callback_timer(F f) : function_(std::move(f)) {}

 private:
  void expired() noexcept override { function_(); }
  F function_;
};

}  // namespace quintet
