// SPDX-License-Identifier: BSL-1.0
// figures.cpp: the table of figures.
#include "study/figures.hpp"

#include <array>

#include "compare/syscall_counter.hpp"
#include "report/text.hpp"

namespace quintet::bench {
namespace {

constexpr std::string_view counted = "system calls";

constexpr std::array all{
    figure{"requests_per_s", "requests/s", 1, grouped, &run_result::requests_per_s, "the client"},
    figure{"p99_us", "p99", 1, micros, &run_result::p99_us, "the client"},
    figure{"server_cpu_us_per_request", "CPU", 1, micros, &run_result::server_cpu_us_per_request,
           "the process's CPU clock"},
    figure{"syscalls_per_request", "system calls", 1, significant, &run_result::syscalls_per_request, counted},
    figure{"futex_per_request", "futex calls", 1, significant, &run_result::futex_per_request, counted},
    figure{"voluntary_switches_per_request", "context switches: it waits", 1, significant, nullptr,
           "/proc/PID/task/*/status"},
    figure{"involuntary_switches_per_request", "context switches: it must", 1, significant, nullptr,
           "/proc/PID/task/*/status"},
    figure{"migrations_per_request", "CPU migrations / 1000", 1000, significant, nullptr, "/proc/PID/task/*/sched"},
    figure{"run_queue_us_per_request", "waits for a CPU", 1, micros, nullptr, "/proc/PID/task/*/schedstat"},
    figure{"page_faults_per_request", "page faults / 1000", 1000, significant, nullptr, "/proc/PID/stat"},
    figure{"net_rx_softirqs_per_request", "NET_RX softirqs", 1, significant, nullptr,
           "/proc/softirqs, of the whole machine"},
    figure{"softirq_us_per_request", "softirq time", 1, micros, nullptr, "/proc/stat, of the whole machine"},
    figure{"lock_waits_per_request", "kernel lock waits / 1000", 1000, significant, nullptr,
           "perf lock, in a run of its own"},
    figure{"lock_wait_us_per_request", "waits for kernel locks", 1, micros, nullptr, "perf lock, in a run of its own"},
};

}  // namespace

std::span<const figure> study_figures() { return all; }

std::string source_of(const figure& f) {
  if (f.source != counted) return std::string(f.source);
  return syscall_counter::by_strace() ? "strace, in a run of its own" : "tracepoints, in a run of its own";
}

}  // namespace quintet::bench
