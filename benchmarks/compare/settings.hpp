// SPDX-License-Identifier: BSL-1.0
// settings.hpp: settings of a comparison.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "options.hpp"
#include "report/contender.hpp"
#include "workloads.hpp"

namespace quintet::bench {

struct compare_settings {
  std::vector<workload> workloads;
  std::vector<contender> contenders;
  bool one_cpu = false;      // the server has a single CPU, for contenders that use no more
  bool shared_cpus = false;  // server and client may both use all CPUs: for pinned loops, or for threads that contend
  bool counters = true;      // a separate pass that counts system calls
  unsigned rounds = 3;
  std::chrono::nanoseconds duration = std::chrono::seconds(1);
  std::chrono::nanoseconds warm_up = std::chrono::milliseconds(200);
  std::optional<unsigned> loops;  // default: one for each CPU of the server
  count_range workers{1, 4};
  engine_kind engine = engine_kind::automatic;
  offload_policy offload = offload_policy::automatic;
  std::uint64_t seed = 0;  // seed of the random order of runs
  bool quick = false;
  std::string program;  // program that serves and loads; by default this one
  std::string json_file, html_file;
  std::string from_file;                // measure nothing, show these results
  std::vector<std::string> with_files;  // results of other commands, for sections of the page
};

// Parse "echo,cpu:500us" and "4,single_reactor", or "all". Throw usage_error, which lists the valid names.
std::vector<workload> parse_workloads(std::string_view text);
std::vector<std::string> parse_models(std::string_view text);
std::string parse_one_model(const std::string& text);
// Parses a duration from 50 ms to an hour. Throws usage_error.
std::chrono::nanoseconds positive_duration(const std::string& text);
std::vector<std::string_view> split(std::string_view text);  // at commas

}  // namespace quintet::bench
