// SPDX-License-Identifier: BSL-1.0
// numbered_messages.hpp: messages whose sizes and contents follow from a seed, their sender and their number, and the
// check of what arrives.
#pragma once

#include "options.hpp"

#include <quintet/base/bytes.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace quintet::bench {

/// Identical in all processes with the same sizes and seed. The first eight bytes of a message are its sender and its
/// number; a pattern follows, whose beginning depends on both.
class numbered_messages {
 public:
  static constexpr unsigned smallest = sizeof(std::uint64_t), largest = 64 * 1024;

  numbered_messages(count_range sizes, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    for (auto& size : sizes_) size = sizes.min + random() % (sizes.max - sizes.min + 1);
    pattern_.resize(sizes.max + shifts);
    for (char& c : pattern_) c = static_cast<char>(random());
  }

  [[nodiscard]] std::size_t size(std::uint64_t sender, std::uint64_t number) const {
    return sizes_[(number + sender * 977) % sizes_.size()];
  }
  [[nodiscard]] double mean_size() const {
    double sum = 0;
    for (const std::size_t size : sizes_) sum += static_cast<double>(size);
    return sum / static_cast<double>(sizes_.size());
  }
  /// Calls use(bytes) with a message, which lies in the pattern itself: a copy would be measured as well.
  template <class F>
  auto with(std::uint64_t sender, std::uint64_t number, F use) {
    char* const at = pattern_.data() + shift(sender, number);
    const std::uint64_t head = head_of(sender, number);
    std::uint64_t kept = 0;
    std::memcpy(&kept, at, sizeof kept);
    std::memcpy(at, &head, sizeof head);
    auto result = use(bytes(at, size(sender, number)));
    std::memcpy(at, &kept, sizeof kept);
    return result;
  }
  /// Returns whether this is the message, to the last byte.
  [[nodiscard]] bool is(std::uint64_t sender, std::uint64_t number, bytes message) const {
    const std::uint64_t head = head_of(sender, number);
    return message.size() == size(sender, number) && std::memcmp(message.data(), &head, sizeof head) == 0 &&
           std::memcmp(message.data() + sizeof head, pattern_.data() + shift(sender, number) + sizeof head,
                       message.size() - sizeof head) == 0;
  }
  /// Returns the number that the message claims to have. It has at least `smallest` bytes.
  [[nodiscard]] static std::uint64_t number_of(bytes message) {
    std::uint64_t head = 0;
    std::memcpy(&head, message.data(), sizeof head);
    return head & most_numbers;
  }

 private:
  static constexpr std::size_t shifts = 1024;
  static constexpr std::uint64_t most_numbers = (std::uint64_t{1} << 48) - 1;
  static std::uint64_t head_of(std::uint64_t sender, std::uint64_t number) { return sender << 48 | number; }
  static std::size_t shift(std::uint64_t sender, std::uint64_t number) { return (sender * 131 + number * 7) % shifts; }

  std::vector<std::size_t> sizes_ = std::vector<std::size_t>(4096);
  std::string pattern_;
};

struct received_counts {
  std::uint64_t messages = 0, bytes = 0;
  std::uint64_t wrong = 0;    ///< of another size or content
  std::uint64_t lost = 0;     ///< numbers that were left out
  std::uint64_t doubled = 0;  ///< numbers that had been received before
};

/// Checks the messages of all senders, whose numbers begin at 0. A reordered message counts as lost and as doubled.
class message_check {
 public:
  explicit message_check(const numbered_messages& expected) : expected_(expected) {}

  void take(std::uint64_t sender, bytes message) {
    ++counts_.messages;
    counts_.bytes += message.size();
    if (sender >= next_.size()) next_.resize(sender + 1);
    std::uint64_t& next = next_[sender];
    const std::uint64_t number = message.size() < numbered_messages::smallest ? next : expected_.number_of(message);
    if (!expected_.is(sender, number, message)) {
      ++counts_.wrong;
      ++next;
    } else if (number < next) {
      ++counts_.doubled;
    } else {
      counts_.lost += number - next;
      next = number + 1;
    }
  }
  [[nodiscard]] const received_counts& counts() const { return counts_; }

 private:
  const numbered_messages& expected_;
  received_counts counts_;
  std::vector<std::uint64_t> next_;  // by sender, whose ids are small
};

}  // namespace quintet::bench
