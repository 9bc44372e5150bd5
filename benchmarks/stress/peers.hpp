// SPDX-License-Identifier: BSL-1.0
// peers.hpp: opens many connections to a server, as fast as it accepts them.
#pragma once

#include "load/control.hpp"
#include "stress/scenario.hpp"
#include "unique_fd.hpp"

#include <functional>
#include <vector>

namespace quintet::bench {

/// Returns the last byte of peer `index`'s address in 127.0.0.0/24, so that a million peers do not run out of ports.
constexpr unsigned source_of(std::uint64_t index) { return 2 + static_cast<unsigned>(index % 250); }

/// Opens connections, at most `most_connecting` at a time. Passes each established one to `opened`, in no particular
/// order. Throws run_error if one is refused.
void open_each(const stress_run& run, const socket_address& to, std::uint64_t count,
               const std::function<void(unique_fd)>& opened);

std::vector<unique_fd> open_peers(const stress_run& run, const socket_address& to, unsigned count);

/// Closes with a reset, which leaves no TIME_WAIT.
void reset_all(std::vector<unique_fd>& peers);

}  // namespace quintet::bench
