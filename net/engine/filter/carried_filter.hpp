// SPDX-License-Identifier: BSL-1.0
// carried_filter: a stream's filter, and the bytes that wait on both of its sides.
#pragma once

#include "../../../base/error.hpp"
#include "../channel.hpp"
#include "filter.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace quintet {

/// Travels with the stream from loop to loop, and so do the bytes that wait: records that are not decrypted yet, plain
/// bytes that were not delivered, records that were not sent. All functions: [loop].
class carried_filter final : public transport {
 public:
  /// The most that waits to be sent: the records of one batch.
  static constexpr std::size_t most_waiting = 64 * 1024;

  /// `below`: what carries the records; nullptr: a socket.
  explicit carried_filter(std::unique_ptr<filter> f, std::unique_ptr<transport> below = nullptr) noexcept
      : transport(&kind_of_all), filter_(std::move(f)), below_(std::move(below)) {}
  /// Returns nullptr for a stream without a filter.
  [[nodiscard]] static carried_filter* of(const stream_handle& stream) noexcept {
    transport* const carried = stream.carried();
    return carried && carried->kind() == &kind_of_all ? static_cast<carried_filter*>(carried) : nullptr;
  }
  [[nodiscard]] std::shared_ptr<const tls_info> tls() const noexcept override { return filter_->info(); }
  [[nodiscard]] std::unique_ptr<transport> take_below() noexcept { return std::move(below_); }
  void set_below(std::unique_ptr<transport> below) noexcept { below_ = std::move(below); }

  // ---- Receiving ----------------------------------------------------------------------------------------------------

  /// Adds records that the peer has sent; they are decrypted later.
  void keep(bytes records) noexcept;
  /// Decrypts waiting records, and behind them `fresh` ones. Returns plain bytes, which are in `place`; none: no more
  /// can be decrypted now.
  [[nodiscard]] bytes decrypt(bytes fresh, std::span<char> place) noexcept;
  /// Returns whether plain bytes wait. Decrypts at most `limit` bytes to find out.
  [[nodiscard]] bool has_plain(std::size_t limit) noexcept;
  /// Returns whether decrypt() may return bytes without fresh records.
  [[nodiscard]] bool may_have_plain() const noexcept { return !plain_.empty() || !is_exhausted_; }
  /// Returns how many bytes of records were received. Those that follow the end do not count.
  [[nodiscard]] std::uint64_t received() const noexcept { return received_; }
  /// No more records come. `reason` is no error after an orderly end of what is below.
  void end_records(error_code reason) noexcept { records_end_ = records_end_.value_or(reason); }
  /// Returns why nothing more will be received when all plain bytes are delivered; nothing: the stream goes on. The end
  /// of what is below is an error if the last record has not come.
  [[nodiscard]] std::optional<error_code> ended() const noexcept {
    if (end_ || !records_end_) return end_;
    return *records_end_ ? *records_end_ : errc::stream_truncated;
  }

  // ---- Sending ------------------------------------------------------------------------------------------------------

  /// The records that have to be sent first.
  [[nodiscard]] bytes waiting() const noexcept { return bytes(waiting_).substr(sent_); }
  /// The first `count` bytes of waiting() were sent.
  void note_sent(std::size_t count) noexcept;
  /// Keeps records for which there was no room, at most most_waiting. Returns false without memory.
  [[nodiscard]] bool wait(bytes records) noexcept;
  /// Makes records in `place`.
  [[nodiscard]] filter::result encrypt(bytes plain, std::span<char> place) noexcept {
    return filter_->encrypt(plain, place);
  }
  /// Makes the record that ends the stream, behind waiting records. Does nothing the second time. Returns false if the
  /// stream is broken.
  [[nodiscard]] bool finish() noexcept;
  [[nodiscard]] bool is_finished() const noexcept { return is_finished_; }
  /// The records can reach the peer no more: drops those that wait.
  void break_sending() noexcept;
  [[nodiscard]] bool is_broken() const noexcept { return is_broken_; }

  /// Whether close() has to send something first.
  [[nodiscard]] bool has_output() const noexcept { return !is_broken_ && (!is_finished_ || !waiting().empty()); }
  /// The sending side of what is below must be shut down after the last record.
  bool must_shut_down = false;

 private:
  void end(error_code reason) noexcept;

  static constexpr char kind_of_all = 0;           // its address counts
  static constexpr std::size_t last_record = 512;  // room for the record of finish()

  const std::unique_ptr<filter> filter_;
  std::unique_ptr<transport> below_;
  std::string records_;   // received, not consumed by the filter
  std::string plain_;     // decrypted ahead, not delivered
  std::string waiting_;   // to be sent
  std::size_t sent_ = 0;  // of waiting_
  std::uint64_t received_ = 0;
  std::optional<error_code> end_;          // by the filter: it decrypts nothing more
  std::optional<error_code> records_end_;  // by what is below
  bool is_exhausted_ = true;               // decrypt() needs fresh records
  bool is_finished_ = false;               // finish() was called
  bool is_broken_ = false;                 // sending
};

}  // namespace quintet
