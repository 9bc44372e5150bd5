// SPDX-License-Identifier: BSL-1.0
// board.hpp: counters of the nodes, in memory that all processes of a run have.
#pragma once

#include "bus/numbered_messages.hpp"

#include <atomic>
#include <cstdint>

namespace quintet::bench {

/// Written by one node and read by the measuring process at any time, so that reading disturbs nobody.
struct alignas(64) node_board {
  std::atomic<std::uint64_t> messages{0}, bytes{0}, wrong{0}, lost{0}, doubled{0};  // received
  std::atomic<std::uint64_t> sent{0};                                               // messages that the bus has taken
  std::atomic<std::uint64_t> writes{0};                                             // send calls of its loop
  std::atomic<std::uint64_t> checksum_ns{0};                                        // time that checksums have taken
  std::atomic<unsigned> port{0};                                                    // of its TCP address

  void publish(const received_counts& c) {
    messages.store(c.messages, std::memory_order_relaxed);
    bytes.store(c.bytes, std::memory_order_relaxed);
    wrong.store(c.wrong, std::memory_order_relaxed);
    lost.store(c.lost, std::memory_order_relaxed);
    doubled.store(c.doubled, std::memory_order_relaxed);
  }
};

}  // namespace quintet::bench
