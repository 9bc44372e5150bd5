// SPDX-License-Identifier: BSL-1.0
// accept_trace.hpp: how often a server's threads woke to accept, read from what strace has printed of them.
#pragma once

#include <cstdint>
#include <string_view>

namespace quintet::bench {

struct accept_counts {
  std::uint64_t accepted = 0;
  std::uint64_t wakes = 0;  // returns from epoll_wait that went on to accept, successfully or not
};

// strace's list of the calls that this wants to see.
inline constexpr auto* accept_calls = "epoll_wait,epoll_pwait,epoll_pwait2,accept,accept4";

accept_counts count_accepting(std::string_view trace);

}  // namespace quintet::bench
