// SPDX-License-Identifier: BSL-1.0
// kv_requests: requests for a large value of kv, and their replies.
#pragma once

#include <cstddef>
#include <string>

inline constexpr std::size_t mib = 1024 * 1024;

inline std::string times(int count, const std::string& text) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

/// Expects a store in which the value of `large` is one MiB of `x`.
inline const std::string get_large = "*2\r\n$3\r\nGET\r\n$5\r\nlarge\r\n";
inline const std::string large_reply = "$" + std::to_string(mib) + "\r\n" + std::string(mib, 'x') + "\r\n";
