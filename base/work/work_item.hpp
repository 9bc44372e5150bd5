// SPDX-License-Identifier: BSL-1.0
// work_item: a unit of work that is queued without allocating; the queue's link lives in the item.
#pragma once

#include <atomic>

namespace quintet {

/// An intrusive unit of work. It carries a function pointer rather than a virtual function because an item changes
/// what it does next (a connection's baton goes out as "process" and comes back as "come home") without changing type.
///
/// An item is in one queue at a time, and belongs to that queue until it runs. Running it may destroy it.
class work_item {
 public:
  using function = void (*)(work_item&) noexcept;

  explicit work_item(function to_run, function on_depart = nullptr) noexcept : run_(to_run), depart_(on_depart) {}
  work_item(const work_item&) = delete;
  work_item& operator=(const work_item&) = delete;

  void operator()() noexcept { run_(*this); }

  /// Called by whoever is about to hand the item to another thread, on the thread that gives it away: the item makes
  /// itself independent of that thread (a connection copies input that it had only borrowed from its loop).
  void depart() noexcept {
    if (depart_) depart_(*this);
  }
  /// For who queues it.
  struct hints {
    bool quick = false;  ///< it will take less time than waking another thread for it
    /// It knows what to do when it has waited for so long that nobody may want its result any more. Then who runs it
    /// says so first, by mark_too_late(), and it will be quick.
    bool may_come_too_late = false;
  };
  [[nodiscard]] bool is_quick() const noexcept { return hints_.quick; }
  [[nodiscard]] bool may_come_too_late() const noexcept { return hints_.may_come_too_late; }
  void mark_too_late() noexcept { too_late_ = true; }
  [[nodiscard]] bool is_too_late() const noexcept { return too_late_; }

 protected:
  ~work_item() = default;
  void become(function to_run) noexcept { run_ = to_run; }
  void set_hints(hints h) noexcept {
    hints_ = h;
    too_late_ = false;
  }

 private:
  friend class work_fifo;
  friend class mpsc_inbox;
  function run_;
  function depart_;
  work_item* next_ = nullptr;
  hints hints_;
  bool too_late_ = false;
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
  /// All of the others, which are gone there.
  void push_all(work_fifo& others) noexcept {
    if (!others.head_) return;
    (tail_ ? tail_->next_ : head_) = others.head_;
    tail_ = others.tail_;
    others.head_ = others.tail_ = nullptr;
  }
  /// The oldest item, or nullptr.
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

/// Many producers push, one consumer takes everything at once. A Treiber stack whose only pop is "take all", so the
/// ABA problem cannot arise; the consumer restores the order of pushing.
class mpsc_inbox {
 public:
  /// [any thread] One compare-and-swap. Sequentially consistent, so that a consumer that announces its sleep and then
  /// looks here, and a producer that pushes and then looks for a sleeper, cannot both miss each other.
  void push(work_item& item) noexcept {
    work_item* head = head_.load(std::memory_order_relaxed);
    do item.next_ = head;
    while (!head_.compare_exchange_weak(head, &item, std::memory_order_seq_cst, std::memory_order_relaxed));
  }
  /// [any thread]
  [[nodiscard]] bool empty() const noexcept { return head_.load(std::memory_order_seq_cst) == nullptr; }

  /// [consumer] Runs what has been pushed so far, in the order of pushing; returns whether there was any. Items pushed
  /// meanwhile wait for the next call: re-posting cannot starve the consumer.
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
