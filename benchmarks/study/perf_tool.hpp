// SPDX-License-Identifier: BSL-1.0
// perf_tool.hpp: perf beside a server while it is measured. Where it cannot work one line says why and how to get it.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "compare/child_process.hpp"
#include "compare/runner.hpp"

namespace quintet::bench {

inline constexpr const char* hardware_events = "cache-references,cache-misses,cycles,instructions";

// Empty where perf is installed and may look at processes of ours, else why not and how to get it.
std::string perf_obstacle();
// The same of the machine's hardware counters: believes the text of perf stat, not its exit status.
std::string hardware_obstacle();
// What to make of what perf complained of: "perf: no permission; ...".
std::string explain_perf(std::string_view complaints);

// perf at work on a process, from begin() to end().
class perf_window final : public load_observer {
 public:
  // "stat", "-x,": `-p PID` is added.
  explicit perf_window(std::vector<std::string> arguments) : arguments_(std::move(arguments)) {}
  void begin(pid_t server) override;
  void end() override;
  // All that it has said on its standard error, after end().
  const std::string& said() const { return said_; }

 private:
  std::vector<std::string> arguments_;
  std::unique_ptr<child_process> perf_;
  std::string said_;
};

// What perf prints on standard output and standard error with these arguments. Throws run_error where it fails.
std::string perf_output(const std::vector<std::string>& arguments);

}  // namespace quintet::bench
