// SPDX-License-Identifier: BSL-1.0
// perf_tool.cpp: perf as a child process, stopped by the signal of Ctrl-C.
#include "study/perf_tool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "study/perf_texts.hpp"

namespace quintet::bench {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 30s;

std::vector<std::string> command(const std::vector<std::string>& arguments) {
  const auto path = find_program("perf");
  if (!path) throw run_error("perf is not installed; apt-get install linux-perf");
  std::vector<std::string> out{*path};
  out.insert(out.end(), arguments.begin(), arguments.end());
  return out;
}

bool failed(int status) { return !WIFEXITED(status) || WEXITSTATUS(status) != 0; }

}  // namespace

std::string explain_perf(std::string_view complaints) {
  const auto has = [&](std::string_view text) { return complaints.find(text) != complaints.npos; };
  if (has("perf_event_paranoid") || has("ermission") || has("EPERM"))
    return "perf has no permission: as root, or after sysctl kernel.perf_event_paranoid=-1";
  if (has("racefs") || has("tracepoint"))
    return "perf cannot read the kernel's tracepoints: as root, with tracefs mounted";
  const auto first = complaints.find_first_not_of(" \n");
  return fmt::format("perf failed: {}", first == complaints.npos
                                            ? "without a word"
                                            : complaints.substr(first, complaints.find('\n', first) - first));
}

std::string perf_output(const std::vector<std::string>& arguments) {
  child_process perf("perf", command(arguments));
  const auto deadline = child_process::clock::now() + patience;
  std::string out;
  while (const auto line = perf.read_line(deadline)) out += *line + '\n';
  if (failed(perf.wait(deadline))) throw run_error(explain_perf(perf.complaints()));
  return out + perf.complaints();
}

std::string perf_obstacle() {
  try {
    perf_output({"stat", "-x,", "-e", "task-clock", "true"});
    return "";
  } catch (const run_error& e) {
    return e.what();
  }
}

std::string hardware_obstacle() {
  try {
    const auto counts = parse_perf_stat(perf_output({"stat", "-x,", "-e", hardware_events, "true"}));
    const bool all = !counts.empty() && std::all_of(counts.begin(), counts.end(),
                                                    [](const auto& event) { return event.second.has_value(); });
    if (all) return "";
    return "perf stat says <not supported>: this machine shows no hardware counters; bare metal does, and virtual "
           "machines that are given a PMU";
  } catch (const run_error& e) {
    return e.what();
  }
}

void perf_window::begin(pid_t server) {
  auto arguments = arguments_;
  arguments.insert(arguments.end(), {"-p", std::to_string(server)});
  perf_ = std::make_unique<child_process>("perf", command(arguments));
}

void perf_window::end() {
  if (perf_->poll_status()) throw run_error(explain_perf(perf_->complaints()));
  ::kill(perf_->pid(), SIGINT);
  perf_->wait(child_process::clock::now() + patience);
  said_ = perf_->complaints();
}

}  // namespace quintet::bench
