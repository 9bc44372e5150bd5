// SPDX-License-Identifier: BSL-1.0
// ledger: what became of each message of the bus in a round of the soak test.
#pragma once

#include <quintet/base/bytes.hpp>
#include <quintet/base/error.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace quintet::test::soak {

/// Who sends a stream's messages. Several threads keep no order.
enum class letter_sender : std::uint8_t { loop, other_thread, several_threads };

/// The messages of one life of a node to another node, by one sender. Each is noted before it is sent.
class letter_stream {
 public:
  static constexpr std::uint32_t most = 4096;

  letter_stream(std::uint32_t number, unsigned source, unsigned destination, letter_sender sender, bool direct)
      : from(source), to(destination), by(sender), is_direct(direct), id_(number) {}

  const unsigned from, to;
  const letter_sender by;
  const bool is_direct;                ///< not forwarded
  std::atomic<bool> has_ended{false};  ///< the sender's life has

  /// Sends the next message by send(payload, completion). `completion` is empty unless `asks`. Returns whether the
  /// message was taken. [any thread]
  template <class Send>
  bool next(std::uint32_t size, bool asks, std::string& payload, Send send) {
    const std::lock_guard lock(mutex_);
    const std::uint32_t number = taken_;
    if (number == most) return false;
    write(number, size, payload);
    letters_[number].asks = asks;
    ++taken_;
    const undo_unless_taken now{*this};
    using completion = std::function<void(error_code)>;
    const error_code failed = send(
        bytes(payload), asks ? completion([this, number](error_code why) { complete(number, why); }) : completion());
    return now.taken = !failed;
  }
  /// A message of this stream was delivered to that life of its receiver. Returns what is wrong, or nothing.
  [[nodiscard]] std::string deliver(std::uint32_t number, unsigned life, bool may_repeat);
  /// Returns whether each completion was called.
  [[nodiscard]] bool is_settled() const;
  /// Returns what is wrong with the whole, or nothing. Adds the messages that are missing without a report.
  [[nodiscard]] std::string judge(std::uint64_t& missing) const;

 private:
  struct undo_unless_taken {
    letter_stream& of;
    mutable bool taken = false;
    ~undo_unless_taken() {
      if (!taken) --of.taken_;
    }
  };
  enum class fate : std::uint8_t { unknown, arrived, failed };
  struct letter {
    bool asks = false;
    std::atomic<fate> told{fate::unknown};
    std::atomic<unsigned> delivered_to{0};  // a life of the receiver; 0: to none
  };
  void write(std::uint32_t number, std::uint32_t size, std::string& payload) const;
  void complete(std::uint32_t number, error_code why);

  const std::uint32_t id_;
  mutable std::mutex mutex_;  // of taken_, and held while a message is sent
  std::uint32_t taken_ = 0;
  std::array<letter, most> letters_{};
  std::atomic<std::uint32_t> next_completed_{0}, next_delivered_{0};
  std::atomic<unsigned> delivers_to_{0};
  std::atomic<const char*> wrong_{nullptr};
};

/// All streams of a round.
class ledger {
 public:
  /// `repeats`: bus_restart_policy::send_again.
  explicit ledger(bool repeats) : repeats_(repeats) {}

  [[nodiscard]] letter_stream& add(unsigned from, unsigned to, letter_sender by, bool is_direct);
  /// Notes that a node ended, after which forwarded messages may come again.
  void note_end(unsigned node);
  /// A message came to a life of a node. [any thread]
  void deliver(unsigned to, unsigned life, bytes payload);
  [[nodiscard]] bool is_settled() const;
  /// `counted`: messages that the nodes have counted as not delivered.
  [[nodiscard]] std::string judge(std::uint64_t counted) const;
  [[nodiscard]] std::uint64_t delivered() const { return delivered_; }

 private:
  const bool repeats_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<letter_stream>> streams_;
  std::string wrong_;
  std::atomic<bool> hub_has_ended_{false};
  std::atomic<std::uint64_t> delivered_{0};
};

}  // namespace quintet::test::soak
