// SPDX-License-Identifier: BSL-1.0
// main.cpp: quintet-bench, the benchmark tool. Finds the command and turns every failure into one line and a status.
#include "commands.hpp"
#include "options.hpp"

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <string>

namespace {

constexpr int wrong_usage = 2;

/// Includes the sub-command, if the parser got that far, so that the hint names the right help.
std::string command_of(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? "quintet-bench" : "quintet-bench " + chosen.front()->get_name();
}

int complain(const CLI::App& app, std::string text) {
  for (char& c : text) {
    if (c == '\n') c = ' ';  // one line, even if the library's text has several
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  const std::string command = command_of(app);
  fmt::print(stderr, "{}: {} (see {} --help)\n", command, text, command);
  return wrong_usage;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Measures Quintet servers: five threading models, several workloads, its own load generator.",
               "quintet-bench");
  app.require_subcommand(0, 1);
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);  // scripts append their own
  app.footer("Example: quintet-bench load 127.0.0.1:7007 --workload echo --duration 5");
  quintet::bench::add_serve(app);
  quintet::bench::add_load(app);
#ifdef QUINTET_BENCH_COMPARE
  quintet::bench::add_compare(app);
  quintet::bench::add_stress(app);
  quintet::bench::add_peers(app);
  quintet::bench::add_merging(app);
  quintet::bench::add_sweep(app);
  quintet::bench::add_accept(app);
  quintet::bench::add_diff(app);
  quintet::bench::add_study(app);
  quintet::bench::add_contention(app);
  quintet::bench::add_memlat(app);
  quintet::bench::add_allocators(app);
  quintet::bench::add_forecast(app);
#endif
  try {
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) {
      std::string names;
      for (const CLI::App* sub : app.get_subcommands({})) names += (names.empty() ? "" : ", ") + sub->get_name();
      return complain(app, "a command is missing; it must be one of: " + names);
    }
    return 0;
  } catch (const CLI::Success& e) {  // --help
    return app.exit(e);
  } catch (const CLI::RuntimeError& e) {
    return e.get_exit_code();
  } catch (const CLI::ParseError& e) {
    return complain(app, e.what());
  } catch (const quintet::bench::usage_error& e) {
    return complain(app, e.what());
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}: {}\n", command_of(app), e.what());
    return 1;
  }
}
