// SPDX-License-Identifier: BSL-1.0
// conversation.hpp: the requests and replies of one connection: their schedule, times and correctness.
#pragma once

#include "load/control.hpp"
#include "load/request_stream.hpp"
#include "load/stamp_stream.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace quintet::bench {

/// Knows bytes and times, but no socket. Connection `index` of `count` sends the requests index, index + count, ... of
/// the run's schedule. Invariant: received <= sent, with at most `pipeline` messages between them.
class conversation {
 public:
  conversation(control& c, std::uint32_t index, std::uint32_t count)
      : control_(&c),
        stream_(c.requests_of(index, index)),
        depth_(c.settings.work.pipeline),
        index_(index),
        count_(count),
        sent_at_(c.open_loop() ? 0 : depth_) {
    if (c.settings.work.kind == work_kind::timestamp) stamps_.emplace(depth_);
  }

  /// Writes the bytes that may be sent at `now`, at most `room`. Returns their number.
  std::size_t produce(char* out, std::size_t room, std::uint64_t now) {
    const std::uint64_t limit = sendable_messages(now) * stream_.message_bytes();
    if (limit <= sent_) return 0;
    const std::size_t length = std::min<std::uint64_t>(room, limit - sent_);
    stamps_ ? stamps_->produce(sent_, out, length) : stream_.produce(sent_, out, length);
    return length;
  }

  void note_sent(std::size_t length, std::uint64_t now) {
    if (!control_->open_loop()) {
      for (auto m = messages_begun(); m * stream_.message_bytes() < sent_ + length; ++m) sent_at_[m % depth_] = now;
    }
    sent_ += length;
  }

  /// Checks and counts replies. Returns false if the server sent
  /// more than was requested; the connection is unusable then.
  bool note_received(std::string_view in, std::uint64_t now, tally& found);

  /// Number of requests that have begun and have no complete reply.
  std::uint64_t outstanding() const { return messages_begun() - messages_answered(); }
  std::uint64_t messages_begun() const { return (sent_ + stream_.message_bytes() - 1) / stream_.message_bytes(); }
  std::uint64_t messages_answered() const { return received_ / stream_.message_bytes(); }

  /// Open loop: scheduled time of the next request that has not begun.
  std::uint64_t next_due_ns() const { return due_ns(messages_begun()); }
  /// Open loop: number of requests that were scheduled before `until` and have not begun.
  std::uint64_t due_not_sent(std::uint64_t until) const {
    if (until == never_ns) return 0;  // there was no window
    const auto due = due_before(until);
    return due - std::min(due, messages_begun());
  }

 private:
  std::uint64_t due_ns(std::uint64_t message) const { return control_->due_ns(index_ + message * count_); }
  std::uint64_t due_before(std::uint64_t time) const;
  std::uint64_t sendable_messages(std::uint64_t now) const {
    if (control_->at() == phase::draining) return messages_begun();  // only completes messages that have begun
    const auto by_depth = messages_answered() + depth_;
    return control_->open_loop() ? std::min(by_depth, due_before(now)) : by_depth;
  }
  [[nodiscard]] std::uint64_t begun_at(std::uint64_t message) const {
    return control_->open_loop() ? due_ns(message) : sent_at_[message % depth_];
  }
  [[nodiscard]] bool matches(std::uint64_t position, std::string_view in) const {
    return stamps_ ? stamps_->matches(position, in) : stream_.matches(position, in);
  }
  void count_reply(std::uint64_t message, std::uint64_t now, tally& found) const;
  [[nodiscard]] bool begins_as_shed(std::string_view part) const;
  void note_spoiled(std::string_view in, std::uint64_t now, tally& found);

  control* control_;
  request_stream stream_;
  std::optional<stamp_stream> stamps_;  ///< workload `timestamp`: the source of requests, instead of stream_
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
  std::uint32_t depth_;
  std::uint32_t index_;
  std::uint32_t count_;
  bool spoiled_ = false;                ///< a byte of the incoming reply was wrong
  bool shed_ = false;                   ///< the incoming reply reports overload
  std::vector<std::uint64_t> sent_at_;  ///< closed loop: send time of message m, at m % depth
};

}  // namespace quintet::bench
