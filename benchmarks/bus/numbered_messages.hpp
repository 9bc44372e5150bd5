// SPDX-License-Identifier: BSL-1.0
// numbered_messages.hpp: messages whose sizes and contents follow from a seed, their sender and their number, and the
// check of what arrives.
#pragma once

#include "options.hpp"
#include "probe/hashes.hpp"

#include <quintet/base/bytes.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace quintet::bench {

/// Identical in all processes with the same sizes and seed. The first eight bytes of a message are its sender and its
/// number; a pattern follows, whose beginning depends on both. With a checksum the last eight bytes are that of the
/// bytes before them.
class numbered_messages {
 public:
  static constexpr unsigned smallest = sizeof(std::uint64_t), smallest_summed = 2 * smallest, largest = 64 * 1024;

  numbered_messages(count_range sizes, std::uint64_t seed, hash_kind checksum = {}) : checksum_(checksum) {
    std::mt19937_64 random(seed);
    for (auto& size : sizes_) size = sizes.min + random() % (sizes.max - sizes.min + 1);
    pattern_.resize(sizes.max + shifts);
    for (char& c : pattern_) c = static_cast<char>(random());
  }

  [[nodiscard]] std::size_t size(std::uint64_t sender, std::uint64_t number) const {
    return sizes_[(number + sender * 977) % sizes_.size()];
  }
  /// Calls use(bytes) with a message, which lies in the pattern itself: a copy would be measured as well.
  template <class F>
  auto with(std::uint64_t sender, std::uint64_t number, F use) {
    char* const at = pattern_.data() + shift(sender, number);
    const bytes message(at, size(sender, number));
    const lent_word head(at, head_of(sender, number));
    if (!checksum_.function) return use(message);
    char* const end = at + message.size() - sizeof(std::uint64_t);
    const lent_word tail(end, sum_of(bytes(at, end)));
    return use(message);
  }
  /// Returns whether this is the message, to the last byte.
  [[nodiscard]] bool is(std::uint64_t sender, std::uint64_t number, bytes message) const {
    const std::uint64_t head = head_of(sender, number);
    if (message.size() != size(sender, number) || std::memcmp(message.data(), &head, sizeof head) != 0) return false;
    const bytes expected(pattern_.data() + shift(sender, number), message.size());
    if (!checksum_.function) return message.substr(sizeof head) == expected.substr(sizeof head);
    const std::size_t rest = message.size() - sizeof head;
    std::uint64_t sum = 0;
    std::memcpy(&sum, message.data() + rest, sizeof sum);
    return sum == sum_of(message.substr(0, rest));
  }
  /// Nanoseconds that the checksums have taken.
  [[nodiscard]] std::uint64_t checksum_ns() const { return checksum_ns_; }
  /// Returns the number that the message claims to have. It has at least `smallest` bytes.
  [[nodiscard]] static std::uint64_t number_of(bytes message) {
    std::uint64_t head = 0;
    std::memcpy(&head, message.data(), sizeof head);
    return head & most_numbers;
  }

 private:
  // Writes a word into the pattern, until the end of its scope.
  class lent_word {
   public:
    lent_word(char* at, std::uint64_t word) : at_(at) {
      std::memcpy(&kept_, at, sizeof kept_);
      std::memcpy(at, &word, sizeof word);
    }
    ~lent_word() { std::memcpy(at_, &kept_, sizeof kept_); }
    lent_word(const lent_word&) = delete;
    lent_word& operator=(const lent_word&) = delete;

   private:
    char* at_;
    std::uint64_t kept_ = 0;
  };

  static constexpr std::size_t shifts = 1024;
  static constexpr std::uint64_t most_numbers = (std::uint64_t{1} << 48) - 1;
  std::uint64_t sum_of(bytes data) const {
    using std::chrono::steady_clock;
    const auto before = steady_clock::now();
    const std::uint64_t sum = checksum_.function(data);
    const std::chrono::nanoseconds taken = steady_clock::now() - before;
    checksum_ns_ += static_cast<std::uint64_t>(taken.count());
    return sum;
  }
  static std::uint64_t head_of(std::uint64_t sender, std::uint64_t number) { return sender << 48 | number; }
  static std::size_t shift(std::uint64_t sender, std::uint64_t number) { return (sender * 131 + number * 7) % shifts; }

  std::vector<std::size_t> sizes_ = std::vector<std::size_t>(4096);
  std::string pattern_;
  hash_kind checksum_;
  mutable std::uint64_t checksum_ns_ = 0;
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
