// SPDX-License-Identifier: BSL-1.0
// instructions.cpp: a server under callgrind, and a client with a fixed number of requests.
#include "peers/instructions.hpp"

#include <cstdlib>
#include <string_view>

#include "compare/child_process.hpp"
#include "compare/valgrind.hpp"

namespace quintet::bench {

double collected_instructions(const std::string& log) {
  constexpr std::string_view sign = "Collected : ";
  const auto at = log.rfind(sign);
  if (at == log.npos) throw run_error("callgrind counted nothing: " + log.substr(0, log.find('\n')));
  return std::strtod(log.c_str() + at + sign.size(), nullptr);
}

void require_valgrind() {
  if (const auto obstacle = valgrind_obstacle(); !obstacle.empty()) throw usage_error("--count: " + obstacle);
}

void measure_instructions(run_result& result, const compare_settings& s, const planned_run& run, const placement&) {
  result.server_cpus = result.client_cpus = std::to_string(cpu_under_valgrind());
  const auto load = bounded_load_of(*run.work);
  const auto command = server_command(s, run, result);
  const auto count = [&](std::uint64_t turns) {
    return collected_instructions(
        log_under_valgrind({"--tool=callgrind", "--callgrind-out-file=/dev/null"}, command, *run.work, turns));
  };
  const double few = count(load.few), many = count(load.many);
  result.requests = static_cast<double>((load.few + load.many) * load.requests_per_turn);
  result.failed = 0;
  result.instructions_per_request = (many - few) / load.requests_between();
}

}  // namespace quintet::bench
