// SPDX-License-Identifier: BSL-1.0
// valgrind.hpp: a server under one of valgrind's tools, and a client with a fixed number of requests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads.hpp"

namespace quintet::bench {

// Returns "" if valgrind is installed, else why it cannot be used and how to install it.
std::string valgrind_obstacle();

// Two loads of different length: the difference of their counts belongs to requests only, not to the start. In a turn
// every connection sends all it may have in flight, before any of them reads.
struct bounded_load {
  std::uint64_t few, many;  // turns
  std::uint64_t requests_per_turn;

  double requests_between() const { return static_cast<double>((many - few) * requests_per_turn); }
};
bounded_load bounded_load_of(const workload&);

// Returns the CPU on which server and client run under valgrind.
unsigned cpu_under_valgrind();

// Runs server and client on that CPU, scheduled in turns where that is permitted. Returns the log of the tool that
// `tool` selects: "--tool=callgrind". Throws run_error, and interrupted.
std::string log_under_valgrind(const std::vector<std::string>& tool, const std::vector<std::string>& server_command,
                               const workload&, std::uint64_t turns);

}  // namespace quintet::bench
