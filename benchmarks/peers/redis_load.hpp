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

// Where the three programs are.
struct redis_programs {
  std::string server, benchmark, kv;

  // `kv` as given, or else beside the benchmarks of this build. Throws usage_error, which says what to install or
  // build.
  static redis_programs find(const std::string& kv);
  // The same without redis-server.
  static redis_programs find_kv(const std::string& kv);
};

// What is special about how a server is run; usually nothing.
struct server_care {
  // Goes before its command line.
  std::function<std::vector<std::string>(const run_result&)> prefix;
  // Looks at it once it is ready. Throws run_error where it is not what it should be.
  std::function<void(const run_result&, pid_t)> inspect;
};

// PING from 100 connections, one at a time and 16 at a time: "kv" and "kv-pipeline".
std::vector<workload> redis_workloads();
// SET of 64 bytes under 1,000 keys from 100 connections, "kv-set": what it stores is allocated, of a PING nothing is.
workload redis_set_workload();

measure_function measure_redis_load(redis_programs, server_care = {});

// Starts the server of a run, has redis-benchmark make so many requests of it, and ends it.
void run_redis_requests(const redis_programs&, const run_result& about, const server_care&, std::uint64_t requests);

// What redis-benchmark --csv has printed, in the result's units. Throws run_error where it is something else.
void take_redis_figures(run_result&, std::string_view csv);

}  // namespace quintet::bench
