// SPDX-License-Identifier: BSL-1.0
// commands.hpp: the commands of quintet-bench. Each function adds one sub-command, whose callback runs it.
#pragma once

namespace CLI {
class App;
}

namespace quintet::bench {

// A callback's end decides the exit status. Returning is 0; `throw CLI::RuntimeError(status)` is `status` without text.
// usage_error (options.hpp) is 2, any other exception 1, each with one line of text.
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
