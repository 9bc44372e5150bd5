// SPDX-License-Identifier: BSL-1.0
// merging.hpp: measures one connection on which messages are sent as fast as possible.
#pragma once

#include "compare/plan.hpp"
#include "options.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace quintet::bench {

struct merging_settings {
  std::string model = "single_reactor";
  engine_kind engine = engine_kind::automatic;
  std::optional<count_range> sizes;  ///< of the messages in bytes; none: two usual ranges
  std::size_t static_output = 0;
  unsigned rounds = 0;
  std::chrono::nanoseconds duration{};
  std::string program, json_file;
};

/// The measured sender: it merges messages, or makes a send call for each.
struct sender {
  count_range sizes;
  bool merging = true;
  [[nodiscard]] std::string label() const { return merging ? "merged" : "a write for each message"; }
};

struct merging_result {
  sender of;
  unsigned round = 0;
  double messages_per_s = 0, bytes_per_s = 0;
  double writes_per_message = 0;
  double sender_cpu_us_per_message = 0, sender_cpu = 0, receiver_cpu = 0;  ///< the last two are fractions of a CPU
  double sender_rss_bytes = 0;
};

/// Starts `quintet-bench serve`, requests messages from it, receives and checks them. Throws run_error.
merging_result measure_merging(const merging_settings& s, const sender& who, const placement& where);

}  // namespace quintet::bench
