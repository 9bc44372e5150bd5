// SPDX-License-Identifier: BSL-1.0
// work_item: a unit of work that is queued without allocating; queues of items, and how a sleeping consumer is woken.
#pragma once

#include "../clock.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>

namespace quintet {

/// The cost of recent runs of the same work: microseconds in two bytes, rounded up, at most 65 ms. A higher cost counts
/// at once. A lower cost removes an eighth of the difference, so that one expensive run is remembered for some time.
class work_cost {
 public:
  [[nodiscard]] bool is_known() const noexcept { return microseconds_ > 0; }
  /// 0: unknown.
  [[nodiscard]] std::uint16_t microseconds() const noexcept { return microseconds_; }
  void add(duration took) noexcept {
    const auto sample = rounded(took);
    if (sample >= microseconds_)
      microseconds_ = sample;
    else
      microseconds_ = static_cast<std::uint16_t>(microseconds_ - (microseconds_ - sample + 7) / 8);
  }
  /// Moves a sixteenth of the way to `other`, up or down: an average over many kinds of work.
  void blend(work_cost other) noexcept {
    const int step = other.microseconds_ - microseconds_;
    microseconds_ = is_known() ? static_cast<std::uint16_t>(microseconds_ + step / 16) : other.microseconds_;
  }

 private:
  static std::uint16_t rounded(duration took) noexcept {
    constexpr std::int64_t most = std::numeric_limits<std::uint16_t>::max();
    const std::int64_t up = (std::min(took, duration(std::chrono::seconds(1))).count() + 999) / 1000;
    return static_cast<std::uint16_t>(std::clamp(up, std::int64_t{1}, most));
  }
  std::uint16_t microseconds_ = 0;
};

/// Classifies cost. Work of unknown cost is not cheap.
class cost_limit {
 public:
  explicit cost_limit(duration threshold) noexcept
      : most_(std::max<std::int64_t>(0, std::chrono::floor<std::chrono::microseconds>(threshold).count())) {}
  [[nodiscard]] bool is_cheap(work_cost c) const noexcept { return c.is_known() && c.microseconds() <= most_; }

 private:
  std::int64_t most_;  // microseconds; costs are rounded up to whole microseconds
};

/// Facts of a work item. A thread model may decide by these facts where and when the item runs.
struct work_facts {
  bool is_measured : 1 = false;  ///< runs are measured; cost() returns the recent cost
  bool can_shed : 1 = false;     ///< it can fail fast, if the runner calls mark_expired() before running it
  bool has_expired : 1 = false;  ///< the runner has called mark_expired()
  std::uint8_t runs : 4 = 0;     ///< of measured items, modulo 16; the item keeps it
};

/// An intrusive unit of work. It holds a function pointer, not a virtual function, because its next step changes while
/// its type stays. For example, a connection's baton is handed off as "batch" and comes back as "returned".
///
/// An item is in one queue at a time, and belongs to that queue until it runs. Running it may destroy it.
class work_item {
 public:
  using function = void (*)(work_item&) noexcept;

  explicit work_item(function to_run, function on_handoff = nullptr) noexcept : run_(to_run), on_handoff_(on_handoff) {}
  work_item(const work_item&) = delete;
  work_item& operator=(const work_item&) = delete;

  void operator()() noexcept { run_(*this); }

  /// Makes the item independent of this thread. The caller must call it here before giving the item to another thread.
  /// For example, a connection copies input that it had only borrowed from its loop.
  void hand_off() noexcept {
    if (on_handoff_) on_handoff_(*this);
  }
  /// Returns the cost of recent runs; unknown before the first run, or if the item is not measured.
  [[nodiscard]] work_cost cost() const noexcept { return facts_.is_measured ? cost_ : work_cost(); }
  [[nodiscard]] bool is_measured() const noexcept { return facts_.is_measured; }
  [[nodiscard]] bool can_shed() const noexcept { return facts_.can_shed; }
  /// Tells the item that it has waited too long: it will fail fast. Requires can_shed().
  void mark_expired() noexcept { facts_.has_expired = true; }
  [[nodiscard]] bool is_expired() const noexcept { return facts_.has_expired; }

 protected:
  ~work_item() = default;
  void become(function to_run) noexcept { run_ = to_run; }
  /// Sets the facts of the next run.
  void set_facts(work_facts f) noexcept {
    f.runs = facts_.runs;
    facts_ = f;
  }
  void note_cost(duration took) noexcept { cost_.add(took); }
  /// Returns whether this run may go unmeasured: recent ones took little, and one in sixteen is measured still. The
  /// clock would take longer than many a run.
  [[nodiscard]] bool may_go_unmeasured() noexcept {
    if (!cost_.is_known() || cost_.microseconds() > little) return false;
    facts_.runs = (facts_.runs + 1U) & 15U;
    return facts_.runs != 0;
  }
  void take_cost_from(const work_item& other) noexcept { cost_ = other.cost_; }

 private:
  friend class work_fifo;
  template <class Atomics, class Item>
  friend class basic_mpsc_inbox;
  function run_;
  function on_handoff_;
  work_item* next_ = nullptr;
  work_cost cost_;
  work_facts facts_;
  static constexpr std::uint16_t little = 16;  // microseconds
};

/// First in, first out. Not synchronised.
class work_fifo {
 public:
  [[nodiscard]] bool empty() const noexcept { return !head_; }
  void push(work_item& item) noexcept {
    item.next_ = nullptr;
    (tail_ ? tail_->next_ : head_) = &item;
    tail_ = &item;
  }
  /// Appends all items of `others`, which is empty afterwards.
  void push_all(work_fifo& others) noexcept {
    if (!others.head_) return;
    (tail_ ? tail_->next_ : head_) = others.head_;
    tail_ = others.tail_;
    others.head_ = others.tail_ = nullptr;
  }
  /// Removes the oldest item and returns it, or nullptr.
  work_item* pop() noexcept {
    work_item* const item = head_;
    if (!item) return nullptr;
    head_ = item->next_;
    if (!head_) tail_ = nullptr;
    return item;
  }

 private:
  work_item* head_ = nullptr;
  work_item* tail_ = nullptr;
};

/// The atomics of the following classes. They are templates of them, so that a model checker can run this code with its
/// own (net/tests/model_checking).
struct std_atomics {
  template <class T>
  using atomic = std::atomic<T>;
};

/// Many producers push; one consumer takes everything at once. This Treiber stack only pops "all", so the ABA problem
/// cannot arise. The consumer restores the order of pushing.
template <class Atomics, class Item>
class basic_mpsc_inbox {
 public:
  /// [any thread] Pushes with one sequentially consistent compare-and-swap. A consumer announces its sleep and then
  /// looks here; a producer pushes and then looks for a sleeper. So they cannot both miss each other.
  void push(Item& item) noexcept {
    Item* head = head_.load(std::memory_order_relaxed);
    do item.next_ = head;
    while (!head_.compare_exchange_weak(head, &item, std::memory_order_seq_cst, std::memory_order_relaxed));
  }
  /// [any thread]
  [[nodiscard]] bool empty() const noexcept { return head_.load(std::memory_order_seq_cst) == nullptr; }

  /// [consumer] Runs the items pushed so far, in order; returns whether there were any. Items pushed meanwhile wait for
  /// the next call: re-posting cannot starve the consumer.
  bool run_all() noexcept {
    if (!head_.load(std::memory_order_relaxed)) return false;
    Item* item = reversed(head_.exchange(nullptr, std::memory_order_acq_rel));
    while (item) {
      Item* next = item->next_;  // running the item may queue it again, or destroy it
      (*item)();
      item = next;
    }
    return true;
  }

 private:
  static Item* reversed(Item* lifo) noexcept {
    Item* fifo = nullptr;
    while (lifo) {
      Item* next = lifo->next_;
      lifo->next_ = fifo;
      fifo = lifo;
      lifo = next;
    }
    return fifo;
  }

  typename Atomics::template atomic<Item*> head_{};
};

using mpsc_inbox = basic_mpsc_inbox<std_atomics, work_item>;

/// Where a loop's thread waits.
enum class sleep_place : int { awake, in_engine, in_guest };

/// The loop announces its sleep and then looks for work. A thread queues work and then looks for a sleeper. Both steps
/// are sequentially consistent, so they cannot both miss each other.
template <class Atomics>
class basic_sleep_flag {
 public:
  /// [loop] Announces a sleep. The caller must look for work before it sleeps.
  void announce(sleep_place where) noexcept { where_.store(where, std::memory_order_seq_cst); }
  /// [loop] Whether a sleep is announced that nobody has ended.
  [[nodiscard]] bool is_announced() const noexcept {
    return where_.load(std::memory_order_relaxed) != sleep_place::awake;
  }
  /// [loop] Ends the sleep.
  void end() noexcept { where_.store(sleep_place::awake, std::memory_order_relaxed); }
  /// [loop] Calls wait(has_work()) as an announced sleep, and returns its result. After an exception the caller must
  /// call end().
  template <class HasWork, class Wait>
  bool sleep(sleep_place where, HasWork has_work, Wait wait) {
    announce(where);
    const bool worked = wait(has_work());
    end();
    return worked;
  }
  /// [any thread] Call after work was queued. Returns where the caller must wake the loop; `awake`: no need. Only the
  /// first call of a burst is told to.
  [[nodiscard]] sleep_place end_by_other() noexcept {
    if (where_.load(std::memory_order_seq_cst) == sleep_place::awake) return sleep_place::awake;
    return where_.exchange(sleep_place::awake, std::memory_order_seq_cst);
  }

 private:
  typename Atomics::template atomic<sleep_place> where_{};
};

using sleep_flag = basic_sleep_flag<std_atomics>;

}  // namespace quintet
