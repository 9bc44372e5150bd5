// SPDX-License-Identifier: BSL-1.0
// redis_load.hpp: redis-server and the example `kv` under redis-benchmark: the Redis protocol instead of an echo.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/runner.hpp"

namespace quintet::bench {

// Paths of the three programs.
struct redis_programs {
  std::string server, benchmark, kv;

  // Finds the programs. `kv` is a path, or empty for the one beside the benchmarks of this build. Throws usage_error,
  // which says what to install or build.
  static redis_programs find(const std::string& kv);
  // Finds all but redis-server.
  static redis_programs find_kv(const std::string& kv);
};

// Optional hooks for a server.
struct server_care {
  // Returns words to put before the server's command line.
  std::function<std::vector<std::string>(const run_result&)> prefix;
  // Inspects the server once it is ready. Throws run_error if it is not as expected.
  std::function<void(const run_result&, pid_t)> inspect;
};

// PING from 100 connections, one at a time and 16 at a time: "kv" and "kv-pipeline".
std::vector<workload> redis_workloads();
// SET of 64 bytes under 1,000 keys from 100 connections: "kv-set". Unlike PING, it allocates.
workload redis_set_workload();

measure_function measure_redis_load(redis_programs, server_care = {});

// Starts the server of a run, has redis-benchmark send `requests` requests, and stops the server.
void run_redis_requests(const redis_programs&, const run_result& about, const server_care&, std::uint64_t requests);

// Takes the figures from the output of redis-benchmark --csv. Throws run_error if it is something else.
void take_redis_figures(run_result&, std::string_view csv);

}  // namespace quintet::bench
