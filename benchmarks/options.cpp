// SPDX-License-Identifier: BSL-1.0
// options.cpp: strict parsing of numbers, durations, addresses and CPU lists.
#include "options.hpp"

#include <quintet/base/error.hpp>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <sched.h>
#include <sys/resource.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>

namespace quintet::bench {
namespace {

template <class T>
std::optional<T> whole(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct unit {
  std::string_view name;
  double nanoseconds;
};

constexpr std::array<unit, 5> units{{{"us", 1e3}, {"ms", 1e6}, {"min", 60e9}, {"s", 1e9}, {"", 1e9}}};

}  // namespace

std::uint64_t parse_number(std::string_view text, std::uint64_t min, std::uint64_t max) {
  const auto value = whole<std::uint64_t>(text);
  if (value && *value >= min && *value <= max) return *value;
  if (max >= std::numeric_limits<unsigned>::max())
    throw usage_error(fmt::format("\"{}\" is not a whole number of at least {}", text, min));
  throw usage_error(fmt::format("\"{}\" is not a whole number from {} to {}", text, min, max));
}

std::chrono::nanoseconds parse_duration(std::string_view text) {
  for (const unit& u : units) {
    if (!text.ends_with(u.name)) continue;
    const auto digits = text.substr(0, text.size() - u.name.size());
    const auto value = whole<double>(digits);
    if (!value || !std::isfinite(*value) || *value < 0 || *value * u.nanoseconds > 1e15) break;
    return std::chrono::nanoseconds(std::llround(*value * u.nanoseconds));
  }
  throw usage_error(fmt::format("\"{}\" is not a duration; write 5, 0.5s, 200us, 20ms or 2min", text));
}

std::size_t parse_size(std::string_view text, std::size_t min, std::size_t max) {
  const std::size_t factor = text.ends_with('k') ? 1024 : text.ends_with('m') ? 1024 * 1024 : 1;
  const auto value = whole<std::size_t>(text.substr(0, text.size() - (factor > 1 ? 1 : 0)));
  if (value && *value <= max / factor && *value * factor >= min) return *value * factor;
  throw usage_error(fmt::format("\"{}\" is not a number of bytes from {} to {}; write 512, 4k or 1m", text, min, max));
}

endpoint parse_endpoint(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon != text.npos && colon > 0) {
    auto host = text.substr(0, colon);
    const auto port = whole<std::uint16_t>(text.substr(colon + 1));
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
    if (port && *port != 0) return {.host = std::string(host), .port = *port};
  }
  throw usage_error(fmt::format("\"{}\" is not HOST:PORT, such as 127.0.0.1:7007 (port 1 to 65535)", text));
}

endpoint parse_target(std::string_view text) {
  constexpr std::size_t most_path_bytes = sizeof(sockaddr_un::sun_path) - sizeof ".shm";
  for (const std::string_view kind : {"unix:", "shm:"}) {
    if (!text.starts_with(kind)) continue;
    const auto path = text.substr(kind.size());
    if (path.empty() || path.size() > most_path_bytes)
      throw usage_error(fmt::format("\"{}\" needs a path of 1 to {} bytes after {}", text, most_path_bytes, kind));
    return {.path = std::string(path), .shared_memory = kind == "shm:"};
  }
  try {
    return parse_endpoint(text);
  } catch (const usage_error& e) {
    throw usage_error(e.what() + std::string("; or unix:PATH or shm:PATH"));
  }
}

std::string to_string(const endpoint& where) {
  if (!where.path.empty()) return (where.shared_memory ? "shm:" : "unix:") + where.path;
  const bool is_v6 = where.host.find(':') != where.host.npos;
  return fmt::format("{}{}{}:{}", is_v6 ? "[" : "", where.host, is_v6 ? "]" : "", where.port);
}

cpu_list allowed_cpus() {
  cpu_set_t set;
  cpu_list cpus;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

cpu_list parse_cpus(std::string_view text) {
  const cpu_list allowed = allowed_cpus();
  const auto refuse = [&] {
    return usage_error(fmt::format("\"{}\" is not a list of CPUs; write 0, 0,1 or 0-1; this process may use {}", text,
                                   fmt::join(allowed, ",")));
  };
  cpu_list cpus;
  for (std::string_view rest = text; !rest.empty();) {
    const auto comma = rest.find(',');
    const auto part = rest.substr(0, comma);
    rest = comma == rest.npos ? std::string_view() : rest.substr(comma + 1);
    const auto dash = part.find('-');
    const auto first = whole<unsigned>(part.substr(0, dash));
    const auto last = dash == part.npos ? first : whole<unsigned>(part.substr(dash + 1));
    if (!first || !last || *first > *last || *last >= CPU_SETSIZE) throw refuse();
    for (unsigned cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
  }
  const auto usable = [&](unsigned cpu) { return std::find(allowed.begin(), allowed.end(), cpu) != allowed.end(); };
  if (cpus.empty() || !std::all_of(cpus.begin(), cpus.end(), usable)) throw refuse();
  return cpus;
}

count_range parse_range(std::string_view text, unsigned most) {
  const auto dots = text.find("..");
  const auto min = whole<unsigned>(text.substr(0, dots));
  const auto max = dots == text.npos ? min : whole<unsigned>(text.substr(dots + 2));
  if (min && max && *min >= 1 && *min <= *max && *max <= most) return {*min, *max};
  throw usage_error(
      fmt::format("\"{}\" is not a range; write MIN..MAX with 1 <= MIN <= MAX <= {}, or one number", text, most));
}

quintet::model parse_model(std::string_view text) {
  if (const auto m = from_string<quintet::model>(text)) return *m;
  throw usage_error(
      fmt::format("\"{}\" is not a model; it must be one of: {} (or 1 to 5)", text, names_of<quintet::model>()));
}

engine_kind parse_engine(std::string_view text) {
  if (const auto kind = from_string<engine_kind>(text)) {
    try {
      return validate(*kind), *kind;
    } catch (const config_error& e) {
      throw usage_error(e.what());
    }
  }
  throw usage_error(fmt::format("\"{}\" is not an engine; it must be one of: {}", text, names_of(built_engines())));
}

void pin_thread(const cpu_list& cpus) {
  if (cpus.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (unsigned cpu : cpus) CPU_SET(cpu, &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot pin to the given CPUs");
}

void raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

std::size_t most_files() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_max : 1024;
}

void limit_files(std::size_t most) {
  if (most > most_files())
    throw usage_error(fmt::format("--files is {}; it must be at most {} (ulimit -Hn)", most, most_files()));
  const rlimit limit{.rlim_cur = most, .rlim_max = most_files()};
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot limit the open files");
}

}  // namespace quintet::bench
