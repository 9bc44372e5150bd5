// SPDX-License-Identifier: BSL-1.0
// subject.hpp: all findings of a study about one server.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "report/contender.hpp"
#include "study/perf_texts.hpp"

namespace quintet::bench {

// Reading of a hardware or simulated cache.
struct cache_reading {
  double references = 0, misses = 0;
  double seconds = 0;   // of the server's CPU; 0 for a simulation, which has no time
  double requests = 0;  // number of requests in the reading

  double rate() const { return references > 0 ? misses / references : 0; }
};

struct subject {
  std::string workload, server;                                     // as contender::label()
  std::map<std::string, std::vector<double>, std::less<>> figures;  // by key (figures.hpp), a value for each round
  std::string cache_source;                                         // "hardware", "simulated"; empty: neither
  std::vector<cache_reading> caches;                                // one for each round; a single one of a simulation
  std::vector<hot_function> functions;                              // hottest first
  std::vector<lock_wait> locks;                                     // longest first
};

}  // namespace quintet::bench
