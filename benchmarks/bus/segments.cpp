// SPDX-License-Identifier: BSL-1.0
// segments.cpp: reads /proc/PID/smaps, whose "Pss" divides a page among the processes that have it.
#include "bus/segments.hpp"

#include "input_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace quintet::bench {

void segment_sum::add(std::string_view smaps) {
  std::istringstream lines{std::string(smaps)};
  bool is_segment = false;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string first, permissions, offset, device, inode, path;
    fields >> first;
    if (first.ends_with(':')) {
      std::uint64_t kibibytes = 0;
      if (is_segment && first == "Pss:" && fields >> kibibytes) resident_ += kibibytes * 1024;
      continue;
    }
    fields >> permissions >> offset >> device >> inode >> path;  // first: the range of addresses
    is_segment = path.starts_with("/memfd:");
    const auto dash = first.find('-');
    if (!is_segment || dash == std::string::npos) continue;
    const auto hex = [](const std::string& text) { return std::stoull(text, nullptr, 16); };
    const std::uint64_t end = hex(offset) + hex(first.substr(dash + 1)) - hex(first.substr(0, dash));
    std::uint64_t& known = ends_[inode];
    known = std::max<std::uint64_t>(known, end);
  }
}

segment_use segment_sum::total() const {
  segment_use out{.count = ends_.size(), .bytes = 0, .resident_bytes = resident_};
  for (const auto& [inode, end] : ends_) out.bytes += end;
  return out;
}

segment_use read_segments(std::span<const pid_t> processes) {
  segment_sum sum;
  for (const pid_t pid : processes) sum.add(read_if_possible(fmt::format("/proc/{}/smaps", pid)));
  return sum.total();
}

}  // namespace quintet::bench
