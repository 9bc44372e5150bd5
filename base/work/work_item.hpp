// SPDX-License-Identifier: BSL-1.0
// work_item: a unit of work that is queued without allocating; the queue's link lives in the item.
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
    return static_cast<std::uint16_t>(
        std::clamp(std::int64_t{std::chrono::ceil<std::chrono::microseconds>(took).count()}, std::int64_t{1}, most));
  }
  std::uint16_t microseconds_ = 0;
};

/// Facts of a work item. A thread model may decide by these facts where and when the item runs.
struct work_facts {
  bool is_measured : 1 = false;  ///< runs are measured; cost() returns the recent cost
  bool can_shed : 1 = false;     ///< it can fail fast, if the runner calls mark_expired() before running it
  bool has_expired : 1 = false;  ///< the runner has called mark_expired()
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
  void set_facts(work_facts f) noexcept { facts_ = f; }
  void note_cost(duration took) noexcept { cost_.add(took); }
  void take_cost_from(const work_item& other) noexcept { cost_ = other.cost_; }

 private:
  friend class work_fifo;
  friend class mpsc_inbox;
  function run_;
  function on_handoff_;
  work_item* next_ = nullptr;
  work_cost cost_;
  work_facts facts_;
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

/// Many producers push; one consumer takes everything at once. This Treiber stack only pops "all", so the ABA problem
/// cannot arise. The consumer restores the order of pushing.
class mpsc_inbox {
 public:
  /// [any thread] Pushes with one sequentially consistent compare-and-swap. A consumer announces its sleep and then
  /// looks here; a producer pushes and then looks for a sleeper. So they cannot both miss each other.
  void push(work_item& item) noexcept {
    work_item* head = head_.load(std::memory_order_relaxed);
    do item.next_ = head;
    while (!head_.compare_exchange_weak(head, &item, std::memory_order_seq_cst, std::memory_order_relaxed));
  }
  /// [any thread]
  [[nodiscard]] bool empty() const noexcept { return head_.load(std::memory_order_seq_cst) == nullptr; }

  /// [consumer] Runs the items pushed so far, in order; returns whether there were any. Items pushed meanwhile wait for
  /// the next call: re-posting cannot starve the consumer.
  bool run_all() noexcept {
    if (!head_.load(std::memory_order_relaxed)) return false;
    work_item* item = reversed(head_.exchange(nullptr, std::memory_order_acq_rel));
    while (item) {
      work_item* next = item->next_;  // running the item may queue it again, or destroy it
      (*item)();
      item = next;
    }
    return true;
  }

 private:
  static work_item* reversed(work_item* lifo) noexcept {
    work_item* fifo = nullptr;
    while (lifo) {
      work_item* next = lifo->next_;
      lifo->next_ = fifo;
      fifo = lifo;
      lifo = next;
    }
    return fifo;
  }

  std::atomic<work_item*> head_{nullptr};
};

}  // namespace quintet
