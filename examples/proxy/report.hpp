// SPDX-License-Identifier: BSL-1.0
// report: the statistics that --verbose prints each second: one line in total, and one for each loop.
#pragma once

#include "proxy/service.hpp"

#include <quintet/threadmodels/server.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace example::proxy {

/// A snapshot of the counters.
struct sample {
  std::uint64_t requests = 0;  ///< clients relayed; or, in server mode, reads answered
  std::vector<quintet::loop_statistics> loops;
  std::uint64_t accepted = 0, accepted_locally = 0;
};

/// Takes a sample of a server. `each_loop`: one entry for each loop, for models with a fixed set of loops; else one
/// sum.
template <class Server>
sample take_sample(const Server& server, const totals* relays, bool each_loop) {
  const auto all = server.statistics();
  sample s{.requests = relays ? relays->clients.load() : all.batches,
           .loops = {},
           .accepted = all.accepted,
           .accepted_locally = all.accepted_locally};
  if (!each_loop) {
    s.loops.push_back(all);
    return s;
  }
  server.each_counters([&s](const quintet::loop_counters& c) { s.loops.emplace_back().add(c); });
  return s;
}

/// Returns the lines for the time between two samples. `relays`: null in server mode.
[[nodiscard]] std::string lines_between(const sample& before, const sample& now, const totals* relays);

}  // namespace example::proxy
