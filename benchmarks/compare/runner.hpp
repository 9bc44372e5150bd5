// SPDX-License-Identifier: BSL-1.0
// runner.hpp: one run: a server process, a client process, and what was measured of both.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "compare/plan.hpp"
#include "report/result.hpp"

namespace quintet::bench {

class child_process;

// Runs a server and what loads it, and fills in what was found. Throws.
using measure_function =
    std::function<void(run_result&, const compare_settings&, const planned_run&, const placement&)>;
// By `serve` and `load`.
void measure_load(run_result&, const compare_settings&, const planned_run&, const placement&);

// Who looks at a server beside that: when the measured time begins, and when it is over. Both may throw run_error.
class load_observer {
 public:
  virtual ~load_observer() = default;
  virtual void begin(pid_t /*server*/) {}
  virtual void end() {}
};
void measure_load_observed(run_result&, const compare_settings&, const planned_run&, const placement&, load_observer&);

// The parts of it. The server's address, and of ours the engine, from what it prints.
std::string await_listening(child_process& server, run_result&);
// Runs a client with `more` arguments, and fills in what was found of both. Throws where the server has not survived
// it.
void load_server(run_result&, const compare_settings&, const planned_run&, const placement&, child_process& server,
                 const std::string& address, const std::vector<std::string>& more);
void load_server(run_result&, const compare_settings&, const planned_run&, const placement&, child_process& server,
                 const std::string& address, const std::vector<std::string>& more, load_observer&);

// The command line of its server, which prints "listening on ADDRESS".
std::vector<std::string> server_command(const compare_settings&, const planned_run&, const run_result& about);

// Never throws for what a server or client does wrong: then the result has an `error`. Throws interrupted.
run_result perform(const compare_settings&, const planned_run&, const measure_function& = measure_load);

}  // namespace quintet::bench
