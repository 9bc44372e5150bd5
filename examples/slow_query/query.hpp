// SPDX-License-Identifier: BSL-1.0
// query: a language of three queries, two of them slow, and the handler that answers them.
#pragma once

#include <quintet/net/connection.hpp>

#include <chrono>
#include <string>

namespace slow_query {

/// Carries out a query and returns the answer line. "ping"; "sleep MS" waits, as for a disk or another server;
/// "spin MS" computes. At most ten seconds. Blocks the calling thread on purpose.
[[nodiscard]] std::string answer(quintet::bytes query);

/// Answers queries, one per line. The thread model decides which thread this blocks, and so which clients are delayed.
struct session {
  std::size_t operator()(quintet::connection& c, quintet::bytes in) const;
};

}  // namespace slow_query
