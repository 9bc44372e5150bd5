// SPDX-License-Identifier: BSL-1.0
// stall: the default bound, and a stall in one line.
#include "stall.hpp"

#include "../../base/error.hpp"

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <system_error>

namespace quintet {
namespace {

constexpr std::chrono::milliseconds built_with{QUINTET_STALL_BOUND};
constexpr std::chrono::milliseconds shortest{1}, longest{std::chrono::hours(1)};

}  // namespace

duration default_stall_bound() {
  const char* const said = ::secure_getenv("QUINTET_STALL_BOUND");
  if (!said || *said == '\0') return built_with;
  const std::string_view text(said);
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw config_error("QUINTET_STALL_BOUND=" + std::string(text) +
                       " is invalid; it must be a whole number of milliseconds");
  return std::chrono::milliseconds(value);
}

void validate(const stall_options& options) {
  if (options.bound != duration::zero() && (options.bound < shortest || options.bound > longest))
    throw config_error("stalls.bound is out of range; it must be 0 (no watchdog), or from 1 ms to 1 h");
}

std::string to_string(const stall& s) {
  std::string line(s.thread.empty() ? "a thread" : s.thread);
  line += " has been stalled for " +
          std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(s.lasted).count()) + " ms";
  if (!s.call.empty()) line += " in " + std::string(s.call);
  if (!s.function.empty()) line += " of " + std::string(s.function);
  if (s.connection) line += ", connection " + to_string(s.connection);
  std::string_view separator = ", at ";
  for (const std::string& frame : s.backtrace) {
    line += std::string(separator) + frame;
    separator = " < ";
  }
  if (s.backtrace.empty()) line += "; no backtrace is available";
  return line;
}

}  // namespace quintet
