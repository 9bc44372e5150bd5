// SPDX-License-Identifier: BSL-1.0
// plan.hpp: the runs, their order and their CPUs.
#pragma once

#include <string>
#include <vector>

#include "compare/settings.hpp"

namespace quintet::bench {

// CPUs of the server and of the client.
struct placement {
  cpu_list server, client;
};

// Chooses the CPUs. If I/O is measured and there are two CPUs, server and client are kept apart. If the handler's work
// is measured, the server needs every CPU to show its parallelism, and the client needs little.
placement place(const workload&, const cpu_list& allowed);
placement place(const compare_settings&, const workload&);
std::string cpu_text(const cpu_list&);  // "0-3,6"

struct planned_run {
  const workload* work;  // points into the settings
  contender who;
  unsigned round;  // from 1; 0: the pass that counts system calls
  bool counting() const { return round == 0; }
  std::string label() const;
};

// Returns the models and, with `with_peers`, the hand-written servers that match them.
std::vector<contender> contenders_of(const std::vector<std::string>& models, bool with_peers);
// Returns false for a peer that cannot run the workload: peers only echo, and `blocking` serves at most 1,000.
bool takes_part(const contender&, const workload&);

// Returns the runs round by round, and within a round workload by workload. The contenders of a workload run in random
// order but close together, since a shared machine's noise changes within seconds. The counting pass is last.
std::vector<planned_run> make_plan(const compare_settings&);

// Returns the measured time and the whole time of a run or plan, in seconds.
double measured_seconds(const compare_settings&, const planned_run&);
double warm_up_seconds(const compare_settings&, const planned_run&);
double expected_seconds(const compare_settings&, const planned_run&);
double expected_seconds(const compare_settings&, const std::vector<planned_run>&);

// Sets the duration so that the whole plan takes about `limit`, but at least 100 ms a run.
void fit_within(compare_settings&, std::chrono::nanoseconds limit);

}  // namespace quintet::bench
