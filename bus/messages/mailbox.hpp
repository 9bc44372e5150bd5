// SPDX-License-Identifier: BSL-1.0
// mailbox: messages of other threads, and of a node to itself, until the loop has taken them.
#pragma once

#include "../../base/bytes.hpp"
#include "../../base/error.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace quintet::bus {

using completion = std::function<void(error_code)>;

/// [any thread]
class mailbox {
 public:
  struct message {
    std::uint64_t to;
    std::size_t size;
    completion done;  // may be empty
  };

  /// Bounds what waits here, and what links have taken and not released.
  explicit mailbox(std::size_t limit) noexcept : limit_(limit) {}

  /// Calls wake() first, unless a take() is still to come. Throws std::bad_alloc without effect.
  template <class F>
  [[nodiscard]] error_code post(std::uint64_t to, bytes payload, completion done, F wake) {
    const std::lock_guard lock(mutex_);
    if (is_closed_) return errc::stopped;
    if (size_ + cost(payload.size()) > limit_) return errc::output_full;
    if (!is_awake_) wake();
    is_awake_ = true;
    if (messages_.size() == messages_.capacity()) messages_.reserve(2 * messages_.size() + 16);
    payloads_.append(payload);
    messages_.push_back({to, payload.size(), std::move(done)});  // has room: nothing throws behind append()
    size_ += cost(payload.size());
    return {};
  }
  /// Exchanges the contents; the payloads are one behind the other. Returns whether the mailbox is closed.
  [[nodiscard]] bool take(std::string& payloads, std::vector<message>& messages) noexcept {
    const std::lock_guard lock(mutex_);
    is_awake_ = false;
    payloads.swap(payloads_);
    messages.swap(messages_);
    return is_closed_;
  }
  /// Returns what a message counts.
  [[nodiscard]] static constexpr std::size_t cost(std::size_t size) noexcept { return size + 64; }
  /// Messages that count so much have left.
  void release(std::size_t cost) noexcept {
    const std::lock_guard lock(mutex_);
    size_ -= cost;
  }
  /// Takes no more messages.
  void close() noexcept {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
  }

 private:
  std::mutex mutex_;
  const std::size_t limit_;
  std::size_t size_ = 0;
  std::string payloads_;
  std::vector<message> messages_;
  bool is_awake_ = false, is_closed_ = false;
};

}  // namespace quintet::bus
