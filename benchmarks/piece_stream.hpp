// SPDX-License-Identifier: BSL-1.0
// piece_stream.hpp: the reply of the workload `ask`, a repeating sequence of pieces. Client and server both derive it
// from the sizes.
#pragma once

#include "options.hpp"

#include <quintet/base/bytes.hpp>

#include <cstddef>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace quintet::bench {

/// Built once, then read-only. Identical on every machine for the same sizes.
class piece_stream {
 public:
  static constexpr count_range default_sizes{16 * 1024, 16 * 1024};
  static constexpr unsigned largest = 64 * 1024;
  static constexpr std::size_t pieces = 256;  ///< number of pieces before the sequence repeats

  explicit piece_stream(count_range sizes) {
    std::minstd_rand random(7);  // the standard fixes its sequence, unlike the result of uniform_int_distribution
    for (std::size_t i = 0; i < pieces; ++i) {
      begins_.push_back(content_.size());
      const std::size_t size = sizes.min + random() % (sizes.max - sizes.min + 1);
      for (std::size_t at = 0; at < size; ++at) content_ += static_cast<char>('!' + random() % 94);
    }
    begins_.push_back(content_.size());
    for (std::size_t i = 0; i < pieces; ++i) shared_.push_back(std::make_shared<const std::string>(piece(i)));
  }

  /// Returns a piece; any number is valid, because the sequence repeats.
  [[nodiscard]] std::string_view piece(std::size_t number) const {
    const std::size_t at = number % pieces;
    return std::string_view(content_).substr(begins_[at], begins_[at + 1] - begins_[at]);
  }
  /// Returns a whole piece, for writes without a copy.
  [[nodiscard]] const shared_bytes& shared_piece(std::size_t number) const { return shared_[number % pieces]; }
  [[nodiscard]] double mean_size() const { return static_cast<double>(content_.size()) / pieces; }

  /// Returns true if the stream has these bytes at `position`.
  [[nodiscard]] bool matches(std::uint64_t position, std::string_view in) const {
    for (std::size_t at = position % content_.size(); !in.empty(); at = 0) {
      const auto wanted = std::string_view(content_).substr(at, in.size());
      if (std::memcmp(in.data(), wanted.data(), wanted.size()) != 0) return false;
      in.remove_prefix(wanted.size());
    }
    return true;
  }

 private:
  std::string content_;
  std::vector<std::size_t> begins_;
  std::vector<shared_bytes> shared_;
};

}  // namespace quintet::bench
