// SPDX-License-Identifier: BSL-1.0
// redis_load.hpp: redis-server and the example `kv` under redis-benchmark: the Redis protocol instead of an echo.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compare/runner.hpp"

namespace quintet::bench {

// Where the three programs are.
struct redis_programs {
  std::string server, benchmark, kv;

  // `kv` as given, or else beside the benchmarks of this build. Throws usage_error, which says what to install or
  // build.
  static redis_programs find(const std::string& kv);
};

// PING from 100 connections, one at a time and 16 at a time: "kv" and "kv-pipeline".
std::vector<workload> redis_workloads();

measure_function measure_redis_load(redis_programs);

// What redis-benchmark --csv has printed, in the result's units. Throws run_error where it is something else.
void take_redis_figures(run_result&, std::string_view csv);

}  // namespace quintet::bench
