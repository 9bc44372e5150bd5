// SPDX-License-Identifier: BSL-1.0
// plan.hpp: which runs, in which order, on which CPUs.
#pragma once

#include <string>
#include <vector>

#include "compare/settings.hpp"

namespace quintet::bench {

// Which CPUs the server and the client may use.
struct placement {
  cpu_list server, client;
};

// Where the I/O is measured the two are kept apart if there are two CPUs; where the handler's work is measured the
// server needs every CPU to show what it can do in parallel, and the client little.
placement place(const workload&, const cpu_list& allowed);
placement place(const compare_settings&, const workload&);
std::string cpu_text(const cpu_list&);  // "0-3,6"

struct planned_run {
  const workload* work;  // in the settings
  contender who;
  unsigned round;  // from 1; 0: the pass that counts system calls
  bool counting() const { return round == 0; }
  std::string label() const;
};

// Ours, and beside them the hand-written server that works as one of them does.
std::vector<contender> contenders_of(const std::vector<std::string>& models, bool with_peers);
// A peer only echoes, and not on any number of connections.
bool takes_part(const contender&, const workload&);

// Round after round; within a round workload after workload; within that the contenders in random order, close together
// in time because the noise of a shared machine comes and goes over seconds. The counting pass is last.
std::vector<planned_run> make_plan(const compare_settings&);

// How long one run measures, and how long it takes altogether, in seconds.
double measured_seconds(const compare_settings&, const planned_run&);
double warm_up_seconds(const compare_settings&, const planned_run&);
double expected_seconds(const compare_settings&, const planned_run&);
double expected_seconds(const compare_settings&, const std::vector<planned_run>&);

// Sets the duration so that the whole plan takes about this long; never less than 100 ms for a run.
void fit_within(compare_settings&, std::chrono::nanoseconds limit);

}  // namespace quintet::bench
