// SPDX-License-Identifier: BSL-1.0
// commands.hpp: the commands of quintet-bench that are written in C++. Each function adds one sub-command, whose
// callback runs it.
#pragma once

namespace CLI {
class App;
}

namespace quintet::bench {

// A callback's end decides the exit status. Returning is 0; `throw CLI::RuntimeError(status)` is `status` without text.
// usage_error (options.hpp) is 2, any other exception 1, each with one line of text.
void add_serve(CLI::App& app);
void add_load(CLI::App& app);
void add_echo(CLI::App& app);
void add_probe(CLI::App& app);
void add_describe(CLI::App& app);

}  // namespace quintet::bench
