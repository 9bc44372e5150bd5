// SPDX-License-Identifier: BSL-1.0
// sharing.hpp: tests whether this machine's hardware counters reveal a planted false sharing.
#pragma once

#include <boost/json/object.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "study/planted.hpp"

namespace quintet::bench {

// Values per increment.
struct sharing_reading {
  double ns = 0;
  std::optional<double> references, misses;  // of the last-level cache, by hardware counters
};

struct sharing_findings {
  planted_counters planted;
  std::vector<sharing_reading> adjacent, padded;  // a value per round, in the same order
  std::string obstacle;                           // why there are no hardware counters; empty: there are
  bool interrupted = false;

  // Returns whether the counters show the sharing; nullopt without counters.
  [[nodiscard]] std::optional<bool> found() const;
  // Returns the conclusion, and its limits.
  [[nodiscard]] std::string sentence() const;
};

struct sharing_settings {
  planted_counters planted;
  unsigned rounds = 3;
  std::string program;  // this program, which counts in a separate process
};

// Measures both layouts. Ctrl-C ends it early with the results so far. Throws run_error.
sharing_findings find_sharing(const sharing_settings&);

std::string sharing_table(const sharing_findings&);
boost::json::object compose_sharing(const sharing_findings&);

}  // namespace quintet::bench
