// SPDX-License-Identifier: BSL-1.0
// query: a language of three queries, two of which take their time, and the handler that answers them.
#pragma once

#include <quintet/net/connection.hpp>

#include <chrono>
#include <string>

namespace slow_query {

/// "ping"; "sleep MS": a query that waits, for a disk or another server; "spin MS": one that computes. At most ten
/// seconds. Returns when it is done, with a line. Blocks the thread that calls it: that is the point.
[[nodiscard]] std::string answer(quintet::bytes query);

/// Queries are lines. The thread model decides on which thread this blocks, and thereby who waits with it.
struct session {
  std::size_t operator()(quintet::connection& c, quintet::bytes in) const;
};

}  // namespace slow_query
