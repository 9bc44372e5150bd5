// SPDX-License-Identifier: BSL-1.0
// accept_trace.cpp: follows each thread's calls. A call has two lines if another thread's call came in between.
#include "accept/accept_trace.hpp"

#include <charconv>
#include <map>

namespace quintet::bench {
namespace {

struct traced_line {
  std::string_view thread;  // empty if there is only one
  std::string_view call;    // "accept4(14, ..."; on the second of two lines "accept4 resumed>..."
  bool begins = true;
};

traced_line take_apart(std::string_view line) {
  traced_line out;
  if (line.starts_with("[pid ")) {
    const auto end = line.find("] ");
    if (end == line.npos) return out;
    out.thread = line.substr(0, end);
    line.remove_prefix(end + 2);
  }
  out.begins = !line.starts_with("<... ");
  out.call = out.begins ? line : line.substr(5);
  return out;
}

// Returns the call's result; -1 for an error or an unfinished call.
long result_of(std::string_view call) {
  const auto equals = call.rfind(") = ");
  long value = -1;
  if (equals != call.npos) std::from_chars(call.data() + equals + 4, call.data() + call.size(), value);
  return value;
}

}  // namespace

accept_counts count_accepting(std::string_view trace) {
  accept_counts counts;
  std::map<std::string_view, bool> has_woken;  // true if the thread has made no accept call since its wake-up
  while (!trace.empty()) {
    const auto end = trace.find('\n');
    if (end == trace.npos) break;
    const auto line = take_apart(trace.substr(0, end));
    trace.remove_prefix(end + 1);
    if (line.call.starts_with("epoll_")) {
      has_woken[line.thread] = result_of(line.call) > 0;
    } else if (line.call.starts_with("accept")) {
      if (line.begins && has_woken[line.thread]) ++counts.wakes;
      has_woken[line.thread] = false;
      if (result_of(line.call) >= 0) ++counts.accepted;
    }
  }
  return counts;
}

}  // namespace quintet::bench
