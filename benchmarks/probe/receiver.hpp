// SPDX-License-Identifier: BSL-1.0
// receiver.hpp: receives the messages of a `serve --workload ask --pieces` on one connection, as fast as they come.
#pragma once

#include "load/connect.hpp"
#include "load/server_sample.hpp"
#include "options.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstdint>

namespace quintet::bench {

struct received_stream {
  std::uint64_t bytes = 0;
  double mean_message_bytes = 0;
  double receiver_cpu_s = 0;
  server_use sender;  ///< over the same time
};

/// Receives and checks messages of these sizes on the calling thread. Throws std::runtime_error.
received_stream receive_messages(const socket_address& from, pid_t sender, count_range sizes,
                                 std::chrono::nanoseconds how_long);

}  // namespace quintet::bench
