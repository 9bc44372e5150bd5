// SPDX-License-Identifier: BSL-1.0
// perf_tool.hpp: runs perf beside a measured server. If perf cannot work, one line says why and how to enable it.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "compare/child_process.hpp"
#include "compare/runner.hpp"

namespace quintet::bench {

inline constexpr const char* hardware_events = "cache-references,cache-misses,cycles,instructions";

// Returns "" if perf is installed and may observe child processes, else why not and how to enable it.
std::string perf_obstacle();
// Returns the same for hardware counters. It relies on the text of perf stat, not on its exit status.
std::string hardware_obstacle();
// Turns perf's error output into a hint: "perf: no permission; ...".
std::string explain_perf(std::string_view complaints);

// Runs perf on a process, from begin() to end().
class perf_window final : public server_observer {
 public:
  // `arguments` such as "stat", "-x,"; begin() adds `-p PID`.
  explicit perf_window(std::vector<std::string> arguments) : arguments_(std::move(arguments)) {}
  void begin(pid_t server) override;
  void end() override;
  // Returns perf's standard error; complete after end().
  const std::string& said() const { return said_; }

 private:
  std::vector<std::string> arguments_;
  std::unique_ptr<child_process> perf_;
  std::string said_;
};

// Runs perf with these arguments and returns its standard output and standard error. Throws run_error if perf fails.
std::string perf_output(const std::vector<std::string>& arguments);

}  // namespace quintet::bench
