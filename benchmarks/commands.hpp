// SPDX-License-Identifier: BSL-1.0
// commands.hpp: the commands of quintet-bench. Each function adds one sub-command, whose callback runs it.
#pragma once

namespace CLI {
class App;
}

namespace quintet::bench {

// How a callback ends the process: returning is status 0; `throw CLI::RuntimeError(status)` is any other status, with
// no further text; usage_error (options.hpp) is status 2 and one line; any other exception is status 1 and one line.
void add_serve(CLI::App& app);
void add_load(CLI::App& app);
void add_compare(CLI::App& app);
void add_stress(CLI::App& app);
void add_peers(CLI::App& app);
void add_merging(CLI::App& app);
void add_sweep(CLI::App& app);
void add_accept(CLI::App& app);
void add_diff(CLI::App& app);
void add_study(CLI::App& app);
void add_contention(CLI::App& app);
void add_memlat(CLI::App& app);
void add_allocators(CLI::App& app);
void add_forecast(CLI::App& app);

}  // namespace quintet::bench
