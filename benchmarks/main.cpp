// SPDX-License-Identifier: BSL-1.0
// main.cpp: quintet-bench, the benchmark tool. Runs the commands that must be fast or close to the kernel, and starts
// the Python part (benchmarks/python) for the others. Turns each failure into one line and a status.
#include "commands.hpp"
#include "options.hpp"

#include <quintet/base/version.hpp>

#include <fmt/core.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr int wrong_usage = 2;

/// Includes the sub-command, if the parser got that far, so that the hint names the right help.
std::string command_of(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? "quintet-bench" : "quintet-bench " + chosen.front()->get_name();
}

bool has_command(const CLI::App& app, std::string_view name) {
  return !app.get_subcommands([&](const CLI::App* sub) { return sub->get_name() == name; }).empty();
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

/// Replaces this process by the Python part, which lies beside the program. Returns only if that is impossible.
int run_python(int argc, char** argv) {
  const fs::path program = fs::read_symlink("/proc/self/exe");
  const std::string part = program.parent_path() / "quintet_bench_python";
  const char* const chosen = std::getenv("QUINTET_PYTHON");
  const std::string python = chosen ? chosen : QUINTET_BENCH_PYTHON;
  ::setenv("QUINTET_BENCH_PROGRAM", program.c_str(), 1);
  ::setenv("PYTHONPYCACHEPREFIX", (program.parent_path() / "pycache").c_str(), 0);
  std::vector<char*> arguments{const_cast<char*>(python.c_str()), const_cast<char*>(part.c_str())};
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  arguments.push_back(nullptr);
  ::execvp(python.c_str(), arguments.data());
  fmt::print(stderr, "quintet-bench: cannot start {}: {} (QUINTET_PYTHON names another Python 3.11 or newer)\n", python,
             std::strerror(errno));
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    fmt::print("quintet-bench {}\n", quintet::version);
    return 0;
  }
  CLI::App app("Measures Quintet servers: five threading models, several workloads, its own load generator.",
               "quintet-bench");
  app.require_subcommand(0, 1);
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);  // scripts append their own
  quintet::bench::add_serve(app);
  quintet::bench::add_load(app);
  quintet::bench::add_echo(app);
  quintet::bench::add_probe(app);
  quintet::bench::add_describe(app);
  for (CLI::App* const command : app.get_subcommands([](CLI::App*) { return true; })) {
    command->set_version_flag("--version", fmt::format("quintet-bench {}", quintet::version), "print the version");
  }
  try {
    if (argc < 2 || !has_command(app, argv[1])) return run_python(argc, argv);
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::Success& e) {  // --help, --version
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
