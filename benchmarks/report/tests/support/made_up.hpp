// SPDX-License-Identifier: BSL-1.0
// made_up.hpp: results for tests, with only the figures that a test is about.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "report/result.hpp"

namespace quintet::bench {

inline run_result made_up(std::string workload, std::string model, unsigned round, double requests_per_s,
                          double cpu_us = 10) {
  run_result r;
  r.workload = std::move(workload);
  r.model = std::move(model);
  r.round = round;
  r.requests = requests_per_s;
  r.failed = 0;
  r.requests_per_s = requests_per_s;
  r.server_cpu_us_per_request = cpu_us;
  return r;
}

// One result for each value, in rounds 1, 2, 3 ...
inline void add_rounds(std::vector<run_result>& to, const std::string& workload, const std::string& model,
                       std::initializer_list<double> speeds, double cpu_us = 10) {
  unsigned round = 0;
  for (const double speed : speeds) {
    ++round;
    to.push_back(made_up(workload, model, round, speed, cpu_us + 0.01 * round));
  }
}

}  // namespace quintet::bench
