// SPDX-License-Identifier: BSL-1.0
// zero_copy.hpp: what MSG_ZEROCOPY saves on this machine's loopback, and whether the kernel copies all the same.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace quintet::bench {

struct zero_copy_cost {
  std::string error;           ///< why the kernel refuses; then the rest is 0
  double bytes_per_s = 0;      ///< over a TCP connection to a thread that drops them
  double cpu_us_per_send = 0;  ///< of the sender, in user space and in the kernel
  double copied_fraction = 0;  ///< of the completions: the kernel has copied the bytes after all
};

/// Sends `bytes` at a time for `time`. `zero_copy`: with MSG_ZEROCOPY, and reads the completions from the error queue
/// (Documentation/networking/msg_zerocopy.rst); otherwise with plain send(). Throws std::system_error.
zero_copy_cost measure_zero_copy(std::size_t bytes, bool zero_copy, std::chrono::nanoseconds time);

}  // namespace quintet::bench
