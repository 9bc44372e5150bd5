// SPDX-License-Identifier: BSL-1.0
// measuring_options.hpp: options shared by all commands that measure a plan of runs.
#pragma once

#include "compare/settings.hpp"

namespace CLI {
class App;
}

namespace quintet::bench {

// A command's defaults.
struct usual_runs {
  unsigned rounds;
  std::chrono::milliseconds duration, warm_up;
};

// Values from the command line.
struct measuring_options {
  std::optional<unsigned> rounds;
  std::optional<std::chrono::nanoseconds> duration, warm_up, within;
  std::optional<std::uint64_t> seed;
};

// Adds --rounds, --duration, --warm-up, --seed, --json and --program. `quick` has the defaults under --quick.
void add_measuring_options(CLI::App&, measuring_options&, compare_settings&, const usual_runs& usual,
                           const usual_runs& quick);
// Adds --within, for commands with one plan.
void add_within(CLI::App&, measuring_options&);
// Adds --html, for commands with a page.
void add_html(CLI::App&, compare_settings&);
// Adds --loops, --workers, --offload and --engine.
void add_server_options(CLI::App&, compare_settings&);

// Completes the settings. Call it last, once they have their workloads and contenders: --within needs the whole plan.
void complete_measuring(compare_settings&, const measuring_options&, const usual_runs& usual, const usual_runs& quick);

}  // namespace quintet::bench
