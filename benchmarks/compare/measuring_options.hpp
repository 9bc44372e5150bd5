// SPDX-License-Identifier: BSL-1.0
// measuring_options.hpp: the options that all commands have which go through a plan of runs.
#pragma once

#include "compare/settings.hpp"

namespace CLI {
class App;
}

namespace quintet::bench {

// What a command does unless it is told.
struct usual_runs {
  unsigned rounds;
  std::chrono::milliseconds duration, warm_up;
};

// What was given on the command line.
struct measuring_options {
  std::optional<unsigned> rounds;
  std::optional<std::chrono::nanoseconds> duration, warm_up, within;
  std::optional<std::uint64_t> seed;
};

// --rounds, --duration, --warm-up, --seed, --json, --program; `quick` is what --quick makes of the usual.
void add_measuring_options(CLI::App&, measuring_options&, compare_settings&, const usual_runs& usual,
                           const usual_runs& quick);
// --within, for commands with one plan.
void add_within(CLI::App&, measuring_options&);
// --html, for commands with a page.
void add_html(CLI::App&, compare_settings&);
// --loops, --workers, --offload, --engine
void add_server_options(CLI::App&, compare_settings&);

// Last of all, when the settings have their workloads and contenders: --within looks at the whole plan.
void complete_measuring(compare_settings&, const measuring_options&, const usual_runs& usual, const usual_runs& quick);

}  // namespace quintet::bench
