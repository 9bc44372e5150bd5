// SPDX-License-Identifier: BSL-1.0
// sharing.hpp: whether this machine shows a planted false sharing: by its hardware counters, or not at all.
#pragma once

#include <boost/json/object.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "study/planted.hpp"

namespace quintet::bench {

// For an increment.
struct sharing_reading {
  double ns = 0;
  std::optional<double> references, misses;  // of the last-level cache, by hardware counters
};

struct sharing_findings {
  planted_counters planted;
  std::vector<sharing_reading> adjacent, padded;  // a round each, in the same order
  std::string obstacle;                           // why there are no hardware counters; empty: there are
  bool interrupted = false;

  // By counters alone: nothing where there are none.
  [[nodiscard]] std::optional<bool> found() const;
  // What follows, and what does not.
  [[nodiscard]] std::string sentence() const;
};

struct sharing_settings {
  planted_counters planted;
  unsigned rounds = 3;
  std::string program;  // this one, which counts in a process of its own
};

// Ctrl-C ends it with what was measured until then. Throws run_error.
sharing_findings find_sharing(const sharing_settings&);

std::string sharing_table(const sharing_findings&);
boost::json::object compose_sharing(const sharing_findings&);

}  // namespace quintet::bench
