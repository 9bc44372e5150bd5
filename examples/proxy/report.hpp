// SPDX-License-Identifier: BSL-1.0
// report: what --verbose prints each second: one line for all, and one for each loop.
#pragma once

#include "proxy/service.hpp"

#include <quintet/threadmodels/server.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace example::proxy {

/// A moment of the counters.
struct sample {
  std::uint64_t requests = 0;  ///< clients relayed; or, in server mode, reads answered
  std::vector<quintet::loop_statistics> loops;
  std::uint64_t accepted = 0, accepted_locally = 0;
};

/// A sample of a server. `each_loop`: its loops are there from the beginning; else they are summed up.
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

/// Of the second between two samples. `relays`: of the proxy mode.
[[nodiscard]] std::string lines_between(const sample& before, const sample& now, const totals* relays);

}  // namespace example::proxy
