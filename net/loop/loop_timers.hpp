// SPDX-License-Identifier: BSL-1.0
// loop_timers: the timers of a loop that call function objects, started and cancelled from any thread.
#pragma once

#include "../../base/work/timer_queue.hpp"
#include "../../base/work/work_item.hpp"

#include <boost/intrusive/set.hpp>

#include <compare>
#include <cstdint>
#include <memory>
#include <mutex>
#include <typeinfo>
#include <utility>

namespace quintet {

class event_loop;

/// Names a timer that event_loop::after() or every() has started: a plain value, of use to that loop only. It may be
/// kept for longer than the timer: no other timer of the loop ever gets the same one.
class timer_id {
 public:
  /// Names no timer.
  timer_id() noexcept = default;
  friend auto operator<=>(timer_id, timer_id) noexcept = default;

 private:
  friend class loop_timers;
  explicit timer_id(std::uint64_t value) noexcept : value_(value) {}
  std::uint64_t value_ = 0;
};

/// What is behind event_loop::after(), every() and cancel(). Each timer is one node: in the table, under the mutex,
/// for as long as its function may still be called; and owned by the loop's inbox or its timer queue, in which only
/// the loop's thread finds it. So a node, and the function in it, is destroyed on the loop's thread, whoever cancels.
class loop_timers {
 public:
  loop_timers(event_loop& loop, timer_queue& queue, const clock& time) noexcept
      : loop_(loop), queue_(queue), clock_(time) {}
  ~loop_timers() { clear(); }
  loop_timers(const loop_timers&) = delete;
  loop_timers& operator=(const loop_timers&) = delete;

  /// [any thread] Calls f() after `first`, and then every `period` if that is not zero.
  template <class F>
  timer_id start(duration first, duration period, F f) {
    return launch(std::make_unique<node_of<F>>(*this, period, std::move(f)), first);
  }
  /// [any thread]
  bool cancel(timer_id id) noexcept;
  /// [any thread] Whether there is none whose function may still be called.
  [[nodiscard]] bool empty() noexcept;
  /// [loop] Destroys those that wait.
  void clear() noexcept;

 private:
  enum class state : unsigned char {
    arriving,   // in the inbox, to be put into the queue
    waiting,    // in the queue
    running,    // its function is being called
    cancelled,  // no longer in the table: destroyed by the loop as soon as it comes across it
  };
  using table_hook = boost::intrusive::set_member_hook<>;

  class node : public work_item, public timer {
   public:
    node(loop_timers& owner, duration beat) noexcept : work_item(&node::arrive), timers(owner), period(beat) {}
    virtual void call() = 0;
    [[nodiscard]] virtual const std::type_info& type() const noexcept = 0;  // of what it calls

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
    [[nodiscard]] const std::type_info& type() const noexcept override { return typeid(F); }

   private:
    F function_;
  };
  struct id_of_node {
    using type = timer_id;
    const timer_id& operator()(const node& n) const noexcept { return n.id; }
  };

  timer_id launch(std::unique_ptr<node> fresh, duration first);
  void fire(node& n) noexcept;
  void again(node& n) noexcept;

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
