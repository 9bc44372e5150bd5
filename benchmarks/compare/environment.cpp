// SPDX-License-Identifier: BSL-1.0
// environment.cpp: describes the machine and the build of a measurement.
#include "compare/environment.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <boost/json/array.hpp>
#include <boost/version.hpp>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>

#include "options.hpp"

// Defined only if tcmalloc is linked in.
extern "C" const char* tc_version(int* major, int* minor, const char** patch) __attribute__((weak));

#ifndef QUINTET_BENCH_FLAGS
#define QUINTET_BENCH_FLAGS "not known"
#endif

namespace quintet::bench {
namespace json = boost::json;

namespace {

// Returns the value of the first line that begins with the key, without separators and quotes.
json::value value_in(const char* file_name, std::string_view key) {
  std::ifstream file(file_name);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const auto first = line.find_first_not_of(" \t:=\"", key.size());
    const auto last = line.find_last_not_of(" \t\"");
    if (first == std::string::npos) break;
    return json::value(line.substr(first, last - first + 1));
  }
  return nullptr;
}

std::string compiler() {
#if defined(__clang__)
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

std::string allocator() {
  if (!tc_version) return fmt::format("glibc malloc {}", ::gnu_get_libc_version());
  int major = 0, minor = 0;
  const char* patch = "";
  return fmt::format("tcmalloc ({})", tc_version(&major, &minor, &patch));
}

json::array load_average() {
  double loads[3] = {};
  json::array out;
  const int count = ::getloadavg(loads, 3);
  for (int i = 0; i < count; ++i) out.push_back(std::round(loads[i] * 100) / 100);
  return out;
}

// Returns the time of all CPUs, and the part of it that the hypervisor gave to other guests.
std::pair<double, double> cpu_times() {
  std::ifstream file("/proc/stat");
  std::string line;
  std::getline(file, line);
  std::istringstream fields(line.substr(std::min<std::size_t>(4, line.size())));
  double all = 0, stolen = 0, value = 0;
  for (int field = 0; field < 8 && fields >> value; ++field) {
    all += value;
    if (field == 7) stolen = value;
  }
  return {all, stolen};
}

}  // namespace

environment::environment() {
  utsname system{};
  ::uname(&system);
  before_["cpu_model"] = value_in("/proc/cpuinfo", "model name");
  before_["cores"] = allowed_cpus().size();
  before_["memory_bytes"] = static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  before_["os"] = value_in("/etc/os-release", "PRETTY_NAME");
  before_["kernel"] = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
  before_["compiler"] = compiler();
  before_["flags"] = QUINTET_BENCH_FLAGS;
  before_["boost"] = fmt::format("{}.{}.{}", BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000, BOOST_VERSION % 100);
  before_["allocator"] = allocator();
  before_["load_average_before"] = load_average();
  before_["date"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  std::tie(all_before_, stolen_before_) = cpu_times();
}

json::object environment::finish() const {
  auto out = before_;
  const auto [all, stolen] = cpu_times();
  const double passed = all - all_before_;
  out["steal_percent"] = passed > 0 ? json::value(std::round((stolen - stolen_before_) / passed * 1000) / 10) : nullptr;
  return out;
}

}  // namespace quintet::bench
