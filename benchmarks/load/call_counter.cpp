// SPDX-License-Identifier: BSL-1.0
// call_counter.cpp: perf_event_open on raw_syscalls:sys_enter and syscalls:sys_enter_futex.
#include "load/call_counter.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>

namespace quintet::bench {
namespace {

namespace fs = std::filesystem;

struct tracepoint_ids {
  unsigned long all = 0, futex = 0;
  explicit operator bool() const { return all > 0 && futex > 0; }
};

tracepoint_ids read_ids(const std::string& tracefs) {
  tracepoint_ids ids;
  std::ifstream(tracefs + "/events/raw_syscalls/sys_enter/id") >> ids.all;
  std::ifstream(tracefs + "/events/syscalls/sys_enter_futex/id") >> ids.futex;
  return ids;
}

// Used if tracefs is not mounted. A child mounts it in its own mount namespace, which ends with the child.
tracepoint_ids read_ids_in_own_namespace() {
  tracepoint_ids ids;
  int ends[2];
  if (::pipe(ends) != 0) return ids;
  const unique_fd read_end(ends[0]);
  unique_fd write_end(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr auto* where = "/sys/kernel/tracing";
    const bool mounted = ::unshare(CLONE_NEWNS) == 0 &&
                         ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                         ::mount("tracefs", where, "tracefs", 0, nullptr) == 0;
    if (mounted) ids = read_ids(where);
    ::_exit(::write(write_end.get(), &ids, sizeof ids) == sizeof ids ? 0 : 1);
  }
  write_end.reset();
  if (child < 0 || ::read(read_end.get(), &ids, sizeof ids) != sizeof ids) ids = {};
  if (child > 0) ::waitpid(child, nullptr, 0);
  return ids;
}

const tracepoint_ids& ids() {
  static const tracepoint_ids found = [] {
    for (const auto* tracefs : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}) {
      if (const auto there = read_ids(tracefs)) return there;
    }
    return read_ids_in_own_namespace();
  }();
  return found;
}

unique_fd open_counter(pid_t thread, unsigned long tracepoint) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_TRACEPOINT;
  attributes.config = tracepoint;
  attributes.inherit = 1;
  constexpr int any_cpu = -1, no_group = -1;
  return unique_fd(
      static_cast<int>(::syscall(SYS_perf_event_open, &attributes, thread, any_cpu, no_group, PERF_FLAG_FD_CLOEXEC)));
}

std::uint64_t sum(const std::vector<unique_fd>& counters) {
  std::uint64_t total = 0;
  for (const auto& counter : counters) {
    std::uint64_t value = 0;
    if (::read(counter.get(), &value, sizeof value) == sizeof value) total += value;
  }
  return total;
}

std::string find_obstacle() {
  if (!ids()) return "cannot read the kernel's tracepoints (root can)";
  if (!open_counter(0, ids().all)) return fmt::format("perf_event_open: {}", std::strerror(errno));
  return "";
}

}  // namespace

const std::string& call_counter::obstacle() {
  static const std::string found = find_obstacle();
  return found;
}

call_counter::call_counter(pid_t process) {
  if (!obstacle().empty()) throw std::runtime_error(obstacle());
  // Threads may start during the scan, so repeat it until it finds no new thread. Later threads inherit the counters.
  std::set<std::string> seen;
  for (bool found = true; found;) {
    found = false;
    std::error_code gone;
    for (const auto& task : fs::directory_iterator(fmt::format("/proc/{}/task", process), gone)) {
      const auto thread = task.path().filename().string();
      if (!seen.insert(thread).second) continue;
      found = true;
      auto all = open_counter(static_cast<pid_t>(std::stol(thread)), ids().all);
      auto futex = open_counter(static_cast<pid_t>(std::stol(thread)), ids().futex);
      if (!all || !futex) throw std::runtime_error(fmt::format("perf_event_open: {}", std::strerror(errno)));
      all_.push_back(std::move(all));
      futex_.push_back(std::move(futex));
    }
  }
}

call_counts call_counter::read() const { return {sum(all_), sum(futex_)}; }

}  // namespace quintet::bench
