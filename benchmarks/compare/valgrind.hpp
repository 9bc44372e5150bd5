// SPDX-License-Identifier: BSL-1.0
// valgrind.hpp: a server under one of valgrind's tools, and a client of so and so many requests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads.hpp"

namespace quintet::bench {

// Empty where valgrind is installed, else why it cannot be used and how to get it.
std::string valgrind_obstacle();

// Two loads: what one has more than the other is the requests' alone, not the start's. In a turn every connection sends
// what it may have in flight, before any of them reads.
struct bounded_load {
  std::uint64_t few, many;  // turns
  std::uint64_t requests_per_turn;

  double requests_between() const { return static_cast<double>((many - few) * requests_per_turn); }
};
bounded_load bounded_load_of(const workload&);

// Where server and client are to be then.
unsigned cpu_under_valgrind();

// Server and client on that one CPU and, where that is permitted, in strict turns. What the tool logged, which is on
// the command line of `tool`: "--tool=callgrind". Throws run_error, and interrupted.
std::string log_under_valgrind(const std::vector<std::string>& tool, const std::vector<std::string>& server_command,
                               const workload&, std::uint64_t turns);

}  // namespace quintet::bench
