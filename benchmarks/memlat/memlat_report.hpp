// SPDX-License-Identifier: BSL-1.0
// memlat_report.hpp: latencies as text for a terminal and as JSON.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

namespace quintet::bench {

struct latency {
  std::string name;        // "L1", "CPU 0 to CPU 1"
  double bytes = 0;        // of the working set; 0: a single line
  std::vector<double> ns;  // one for each round
};

struct memlat_findings {
  std::vector<latency> loads, passes;
  std::vector<std::string> not_known;  // a line each
};

std::string memlat_table(const memlat_findings&);
// Composes "results" and "not_known".
boost::json::object compose_memlat(const memlat_findings&);

}  // namespace quintet::bench
