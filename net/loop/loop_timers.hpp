// SPDX-License-Identifier: BSL-1.0
// loop_timers: a loop's timers that call function objects, started and cancelled from any thread.
#pragma once

#include "../../base/work/timer_queue.hpp"
#include "../../base/work/work_item.hpp"
#include "../watch/type_text.hpp"

#include <boost/intrusive/set.hpp>

#include <compare>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace quintet {

class event_loop;

/// Names a timer of event_loop::after() or every(). A plain value, valid for that loop only, which may be kept for
/// longer than the timer: the loop never uses an id again.
class timer_id {
 public:
  /// Names no timer.
  timer_id() noexcept = default;
  /// Orders ids, for containers; the order means nothing.
  friend auto operator<=>(timer_id, timer_id) noexcept = default;

 private:
  friend class loop_timers;
  explicit timer_id(std::uint64_t value) noexcept : value_(value) {}
  std::uint64_t value_ = 0;
};

/// Implements event_loop::after(), every() and cancel(). Each timer is one node. The node is in the table, under the
/// mutex, while its function may still be called. The loop's inbox or timer queue owns the node, so the loop's thread
/// destroys it and its function, whichever thread cancels.
class loop_timers {
 public:
  /// The loop owns all three.
  loop_timers(event_loop& loop, timer_queue& queue, const clock& time) noexcept
      : loop_(loop), queue_(queue), clock_(time) {}
  ~loop_timers() { clear(); }
  loop_timers(const loop_timers&) = delete;
  loop_timers& operator=(const loop_timers&) = delete;

  /// [any thread] Calls f() after `first`, and then every `period` if that is not zero. Allocates one node.
  template <class F>
  timer_id start(duration first, duration period, F f) {
    return launch(std::make_unique<node_of<F>>(*this, period, std::move(f)), first);
  }
  /// [any thread] See event_loop::cancel().
  bool cancel(timer_id id) noexcept;
  /// [any thread] Whether no function may still be called.
  [[nodiscard]] bool empty() noexcept;
  /// [loop] Destroys the waiting timers.
  void clear() noexcept;

 private:
  enum class state : unsigned char {
    arriving,   // in the inbox, on its way to the queue
    waiting,    // in the queue
    running,    // its function is being called
    cancelled,  // no longer in the table; the loop destroys it when it reaches it
  };
  using table_hook = boost::intrusive::set_member_hook<>;

  class node : public work_item, public timer {
   public:
    node(loop_timers& owner, duration beat) noexcept : work_item(&node::arrive), timers(owner), period(beat) {}
    virtual void call() = 0;
    [[nodiscard]] virtual const char* type() const noexcept = 0;  // type of the function object

    static void arrive(work_item& item) noexcept;
    void expired() noexcept override { timers.fire(*this); }

    loop_timers& timers;
    const duration period;  // zero: once
    time_point due{};
    timer_id id;
    table_hook in_table;
    state stage = state::arriving;
  };
  template <class F>
  class node_of final : public node {
   public:
    node_of(loop_timers& owner, duration beat, F f) : node(owner, beat), function_(std::move(f)) {}
    void call() override { function_(); }
    [[nodiscard]] const char* type() const noexcept override { return detail::type_text<F>(); }

   private:
    F function_;
  };
  struct id_of_node {
    using type = timer_id;
    const timer_id& operator()(const node& n) const noexcept { return n.id; }
  };

  timer_id launch(std::unique_ptr<node> fresh, duration first);
  void fire(node& n) noexcept;
  void rearm(node& n) noexcept;

  event_loop& loop_;
  timer_queue& queue_;
  const clock& clock_;
  std::mutex mutex_;
  boost::intrusive::set<node, boost::intrusive::key_of_value<id_of_node>,
                        boost::intrusive::member_hook<node, table_hook, &node::in_table>>
      table_;
  std::uint64_t newest_ = 0;
};

}  // namespace quintet
