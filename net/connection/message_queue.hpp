// SPDX-License-Identifier: BSL-1.0
// message_queue: messages that have arrived at a connection and wait to run.
#pragma once

#include "connection_registry.hpp"

#include <memory>

namespace quintet::detail {

/// Owns its messages; first in, first out. Not synchronised.
class message_queue {
 public:
  message_queue() noexcept = default;
  message_queue(const message_queue&) = delete;
  message_queue& operator=(const message_queue&) = delete;
  ~message_queue() {
    while (pop()) {
    }
  }
  void push(std::unique_ptr<connection_message> message) noexcept { waiting_.push(*message.release()); }
  /// Returns the oldest message, or null.
  std::unique_ptr<connection_message> pop() noexcept {
    return std::unique_ptr<connection_message>(static_cast<connection_message*>(waiting_.pop()));
  }

 private:
  work_fifo waiting_;
};

}  // namespace quintet::detail
