// SPDX-License-Identifier: BSL-1.0
// strace_counter.cpp: parses strace's lines. A call has one line, or two if another thread's call came in between.
#include "compare/strace_counter.hpp"

#include <fmt/format.h>

#include <string_view>
#include <thread>

#include "compare/child_process.hpp"

namespace quintet::bench {
namespace {

using namespace std::chrono_literals;

std::string find_obstacle() {
  if (!find_program("strace")) return "strace is not installed";
  try {
    child_process somebody("sleep", {"/bin/sleep", "10"});
    const strace_counter counter(somebody.pid());
    return "";
  } catch (const run_error& e) {
    return e.what();
  }
}

}  // namespace

const std::string& strace_counter::obstacle() {
  static const std::string found = find_obstacle();
  return found;
}

strace_counter::strace_counter(pid_t process, const std::string& calls) {
  // strace writes to standard error, because it buffers files. -a1 -s0 keep each line short.
  const auto path = find_program("strace");
  if (!path) throw run_error("strace is not installed");
  strace_ = std::make_unique<child_process>(
      "strace", std::vector<std::string>{*path, "-f", "-a1", "-s0", "-e", "signal=none", "-e", "trace=" + calls, "-p",
                                         std::to_string(process)});
  const auto deadline = child_process::clock::now() + 5s;
  while (strace_->complaints().find("attached") == std::string::npos) {
    if (strace_->poll_status()) throw run_error("strace " + strace_->ending());
    if (child_process::clock::now() >= deadline) throw run_error("strace did not attach in time");
    std::this_thread::sleep_for(5ms);
  }
}

strace_counter::~strace_counter() = default;

std::string strace_counter::printed() const { return strace_->complaints(); }

syscall_counts strace_counter::read() const {
  syscall_counts counts;
  const auto text = printed();
  for (std::string_view rest = text; !rest.empty();) {
    const auto end = rest.find('\n');
    if (end == rest.npos) break;
    auto line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (line.starts_with("[pid ")) line.remove_prefix(std::min(line.size(), line.find("] ") + 2));
    if (line.starts_with("strace: ") || line.starts_with("+++") || line.find(" resumed>") != line.npos) continue;
    ++counts.all;
    if (line.starts_with("futex(")) ++counts.futex;
  }
  return counts;
}

}  // namespace quintet::bench
