// SPDX-License-Identifier: BSL-1.0
// disk.cpp: /proc/PID/io and /proc/pressure/io.
#include "load/disk.hpp"

#include "input_file.hpp"

#include <fmt/core.h>

#include <sstream>
#include <string>

namespace quintet::bench {
namespace {

/// Returns the number after the first "key" in the text.
std::optional<double> number_after(std::string_view text, std::string_view key) {
  const auto at = text.find(key);
  if (at == text.npos) return std::nullopt;
  std::istringstream rest{std::string(text.substr(at + key.size()))};
  double value = 0;
  return rest >> value ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<disk_bytes> parse_process_io(std::string_view text) {
  const auto read = number_after(text, "\nread_bytes:"), written = number_after(text, "\nwrite_bytes:");
  if (!read || !written) return std::nullopt;
  return disk_bytes{*read, *written};
}

std::optional<disk_bytes> read_disk_bytes(pid_t process) {
  return parse_process_io(read_if_possible(fmt::format("/proc/{}/io", process)));
}

std::optional<double> parse_disk_stall(std::string_view text) {
  const auto full = text.find("full ");
  const auto us = full == text.npos ? std::nullopt : number_after(text.substr(full), "total=");
  return us ? std::optional(*us / 1e6) : std::nullopt;
}

std::optional<double> read_disk_stall_seconds() { return parse_disk_stall(read_if_possible("/proc/pressure/io")); }

}  // namespace quintet::bench
