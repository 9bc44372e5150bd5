// SPDX-License-Identifier: BSL-1.0
// quiet.cpp: samples the whole machine's CPU time, and measures when other programs use none.
#include "forecast/quiet.hpp"

#include <unistd.h>

#include <thread>

#include "compare/child_process.hpp"
#include "compare/interruption.hpp"
#include "compare/server_sample.hpp"

namespace quintet::bench::forecasting {

bool is_disturbed(const run_result& r) { return r.foreign_cpu_fraction.value_or(0) > quiet; }

void quiet_moments::measure(run_result& r, const compare_settings& s, const planned_run& run, const placement& where,
                            server_observer& observer) {
  const run_result blank = r;
  while (true) {
    wait();
    const auto begun = std::chrono::steady_clock::now();
    r = blank;
    try {
      measure_load_observed(r, s, run, where, observer);
      if (!is_disturbed(r) || left_.count() <= 0) return;
    } catch (const run_error&) {
      if (left_.count() <= 0) throw;
    }
    left_ -= std::chrono::steady_clock::now() - begun;
  }
}

void quiet_moments::wait() {
  constexpr std::chrono::milliseconds look(200);
  const auto cpus = static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  while (left_.count() > 0) {
    const auto before = sample_server(::getpid());
    std::this_thread::sleep_for(look);
    const auto after = sample_server(::getpid());
    if (interruption_guard::happened()) throw interrupted();
    if ((after.machine.busy - before.machine.busy) / (after.wall_s - before.wall_s) / cpus < quiet) return;
    left_ -= look;
  }
}

}  // namespace quintet::bench::forecasting
