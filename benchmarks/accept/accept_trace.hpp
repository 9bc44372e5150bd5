// SPDX-License-Identifier: BSL-1.0
// accept_trace.hpp: counts a server's wake-ups to accept, from strace's output.
#pragma once

#include <cstdint>
#include <string_view>

namespace quintet::bench {

struct accept_counts {
  std::uint64_t accepted = 0;
  std::uint64_t wakes = 0;  // returns from epoll_wait that are followed by accept, successful or not
};

// strace's list of the calls to trace.
inline constexpr auto* accept_calls = "epoll_wait,epoll_pwait,epoll_pwait2,accept,accept4";

accept_counts count_accepting(std::string_view trace);

}  // namespace quintet::bench
