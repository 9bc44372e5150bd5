// SPDX-License-Identifier: BSL-1.0
// runner.hpp: one run: a server process, a client process, and the figures of both.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "compare/plan.hpp"
#include "report/result.hpp"

namespace quintet::bench {

class child_process;

// Runs a server and its load, and fills in the result. Throws.
using measure_function =
    std::function<void(run_result&, const compare_settings&, const planned_run&, const placement&)>;
// Measures with `serve` and `load`.
void measure_load(run_result&, const compare_settings&, const planned_run&, const placement&);

// Additional observer of a server, called at the begin and the end of the measured time. Both may throw run_error.
class server_observer {
 public:
  virtual ~server_observer() = default;
  virtual void begin(pid_t /*server*/) {}
  virtual void end() {}
};
void measure_load_observed(run_result&, const compare_settings&, const planned_run&, const placement&,
                           server_observer&);

// The steps of measure_load(). This one reads the server's
// address, and the engine of a Quintet server, from its output.
std::string await_listening(child_process& server, run_result&);
// Runs a client with `more` arguments and fills in the figures of both. Throws if the server has ended.
void load_server(run_result&, const compare_settings&, const planned_run&, const placement&, child_process& server,
                 const std::string& address, const std::vector<std::string>& more);
void load_server(run_result&, const compare_settings&, const planned_run&, const placement&, child_process& server,
                 const std::string& address, const std::vector<std::string>& more, server_observer&);

// Returns the command line of the run's server, which prints "listening on ADDRESS".
std::vector<std::string> server_command(const compare_settings&, const planned_run&, const run_result& about);

// Performs a run. If a server or client fails, the result has an `error` instead. Throws only interrupted.
run_result perform(const compare_settings&, const planned_run&, const measure_function& = measure_load);

}  // namespace quintet::bench
