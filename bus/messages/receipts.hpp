// SPDX-License-Identifier: BSL-1.0
// receipts: completions of messages that other nodes forward.
#pragma once

#include "node_context.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>

namespace quintet::bus {

/// Each message has a tag; the destination, or the node that drops it, sends the tag back. All functions: [loop].
class receipts {
 public:
  /// `on_room` must not throw. It is called when half of the limit is free again after is_full() was true.
  receipts(node_context& node, std::function<void()> on_room)
      : node_(node), on_room_(std::move(on_room)), first_(node.random()() >> 1U | 1U) {}

  [[nodiscard]] bool is_full() noexcept {
    const bool full = waiting_.size() >= node_.options().max_receipts;
    was_full_ |= full;
    return full;
  }
  /// Returns the tag that the next add() will have.
  [[nodiscard]] std::uint64_t next_tag() const noexcept { return first_ + waiting_.size(); }
  void add(completion done) {
    const duration timeout = node_.options().receipt_timeout;
    waiting_.push_back({std::move(done), node_.loop().now() + timeout});
    if (!timer_.pending()) node_.loop().start(timer_, timeout);
  }
  /// Undoes the last add().
  void drop_last() noexcept { waiting_.pop_back(); }
  /// Ignores tags that it does not know: their time is over.
  void take(std::uint64_t tag, error_code result) noexcept {
    if (tag < first_ || tag - first_ >= waiting_.size()) return;
    const completion done = std::exchange(waiting_[static_cast<std::size_t>(tag - first_)].done, {});
    drop_done();
    node_.call(done, result);
    report_room();
  }
  void fail_all(error_code why) noexcept {
    while (!waiting_.empty()) take_front(why);
    timer_.cancel();
  }

 private:
  struct entry {
    completion done;  // empty: called
    time_point deadline;
  };
  void take_front(error_code why) noexcept {
    const completion done = std::move(waiting_.front().done);
    waiting_.pop_front();
    ++first_;
    node_.call(done, why);
  }
  void drop_done() noexcept {
    for (; !waiting_.empty() && !waiting_.front().done; ++first_) waiting_.pop_front();
  }
  void expire() noexcept {
    while (!waiting_.empty() && waiting_.front().deadline <= node_.loop().now())
      take_front(system_error_code(ETIMEDOUT));
    drop_done();
    if (!waiting_.empty()) node_.loop().start(timer_, between(node_.loop().now(), waiting_.front().deadline));
    report_room();
  }
  void report_room() noexcept {
    if (waiting_.size() <= node_.options().max_receipts / 2 && std::exchange(was_full_, false)) on_room_();
  }

  node_context& node_;
  const std::function<void()> on_room_;
  bool was_full_ = false;
  std::deque<entry> waiting_;
  // Tag of the first; 0: no receipt is wanted. They begin anywhere: receipts for a predecessor with this id may come.
  std::uint64_t first_;
  callback timer_{[this] { expire(); }};
};

}  // namespace quintet::bus
