// SPDX-License-Identifier: BSL-1.0
// subject.hpp: all that a study has found out about one server.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "report/contender.hpp"
#include "study/perf_texts.hpp"

namespace quintet::bench {

// Of a cache, or of what simulates one.
struct cache_reading {
  double references = 0, misses = 0;
  double seconds = 0;   // of the server's CPU; 0 where a simulation has no time
  double requests = 0;  // that these were for

  double rate() const { return references > 0 ? misses / references : 0; }
};

struct subject {
  std::string workload, server;                                     // as contender::label()
  std::map<std::string, std::vector<double>, std::less<>> figures;  // by key (figures.hpp), a value for each round
  std::string cache_source;                                         // "hardware", "simulated"; empty: neither
  std::vector<cache_reading> caches;                                // one for each round; one of a simulation
  std::vector<hot_function> functions;                              // hottest first
  std::vector<lock_wait> locks;                                     // longest first
};

}  // namespace quintet::bench
