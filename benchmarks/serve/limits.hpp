// SPDX-License-Identifier: BSL-1.0
// limits.hpp: the library's limits that `serve` accepts as options, for tests with misbehaving peers.
#pragma once

#include <quintet/threadmodels/server.hpp>

#include <chrono>
#include <cstddef>
#include <optional>

namespace CLI {
class App;
}

namespace quintet::bench {

/// Unset members keep the library's defaults.
struct serve_limits {
  std::optional<std::size_t> files;  ///< open descriptors; unset: as many as the system allows
  std::optional<std::chrono::nanoseconds> message_timeout;
  std::optional<std::size_t> max_output, max_output_total, high_watermark, merge_threshold, tuned_sockets, max_threads,
      max_connections;
  std::optional<std::size_t> receive_size;

  void apply(config& to) const;
};

void add_limit_options(CLI::App& app, serve_limits& limits);

}  // namespace quintet::bench
