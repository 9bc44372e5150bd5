// SPDX-License-Identifier: BSL-1.0
// interval_lines.hpp: a line for each interval of a load: requests/s, ok, failed, success.
#pragma once

#include "load/report.hpp"
#include "load/run.hpp"

#include <fmt/core.h>

#include <cstdint>
#include <cstdio>

namespace quintet::bench {

/// Prints a line per interval with its requests. The final line has the remainder, so the lines add up to the result.
class interval_lines {
 public:
  void show(const load_progress& p) {
    if (!p.warming) line(p.seconds, p.requests, p.failed);
  }
  void finish(const load_result& r) {
    if (r.measured() && r.seconds() > seconds_) line(r.seconds(), r.requests, r.failed);
  }

 private:
  void line(double seconds, std::uint64_t requests, std::uint64_t failed) {
    const auto ok_now = requests - requests_, failed_now = failed - failed_;
    const double rate = static_cast<double>(ok_now) / (seconds - seconds_);
    fmt::print(stderr, "{:.1f} s: {} requests/s  {}\n", seconds, with_commas(static_cast<std::uint64_t>(rate)),
               outcome_text(ok_now, failed_now));
    seconds_ = seconds;
    requests_ = requests;
    failed_ = failed;
  }

  double seconds_ = 0;
  std::uint64_t requests_ = 0, failed_ = 0;
};

}  // namespace quintet::bench
