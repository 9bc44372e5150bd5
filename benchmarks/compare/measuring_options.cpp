// SPDX-License-Identifier: BSL-1.0
// measuring_options.cpp: options shared by all commands that measure a plan of runs.
#include "compare/measuring_options.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <random>

#include "command_line.hpp"
#include "compare/plan.hpp"
#include "output_file.hpp"

namespace quintet::bench {
namespace {

std::string text(std::chrono::milliseconds time) {
  return time.count() % 1000 == 0 ? fmt::format("{}s", time.count() / 1000) : fmt::format("{}ms", time.count());
}
std::string text(unsigned number) { return std::to_string(number); }

// Returns "(default: 1s; 400ms with --quick)".
template <class T>
std::string defaults(T usual, T quick) {
  return fmt::format("(default: {}{})", text(usual), usual == quick ? "" : "; " + text(quick) + " with --quick");
}

}  // namespace

void add_measuring_options(CLI::App& app, measuring_options& o, compare_settings& s, const usual_runs& usual,
                           const usual_runs& quick) {
  const auto same = [](const std::string& text) { return text; };
  add_parsed(app, "--rounds", o.rounds, number_in<unsigned>(1, 1000),
             "Runs of each combination " + defaults(usual.rounds, quick.rounds));
  add_parsed(app, "--duration", o.duration, positive_duration,
             "Measured time of a run " + defaults(usual.duration, quick.duration));
  add_parsed(app, "--warm-up", o.warm_up, positive_duration,
             "Load before the measured time " + defaults(usual.warm_up, quick.warm_up));
  add_parsed(app, "--seed", o.seed, number_in<std::uint64_t>(0), "Seed of the random order of runs (default: random)");
  add_parsed(app, "--json", s.json_file, parse_output, "Write all results to this file");
  add_parsed(app, "--program", s.program, same, "Path of the quintet-bench that serves and loads (default: this one)");
}

void add_within(CLI::App& app, measuring_options& o) {
  add_parsed(app, "--within", o.within, positive_duration,
             "Instead of --duration: all runs together take about this long")
      ->excludes(app.get_option("--duration"));
}

void add_html(CLI::App& app, compare_settings& s) {
  add_parsed(app, "--html", s.html_file, parse_output, "Write the report, a self-contained HTML page, to this file");
}

void add_server_options(CLI::App& app, compare_settings& s) {
  add_parsed(app, "--loops", s.loops, number_in<unsigned>(1, 1024),
             "Loops of models 4 and 5 (default: the server's CPUs)");
  add_parsed(app, "--workers", s.workers, parse_range, "MIN..MAX workers of models 3 and 5 (default: 1..4)");
  add_parsed(app, "--offload", s.offload, parse_offload,
             "Batches that models 3 and 5 hand off to workers: always, adaptive, automatic (default: automatic, "
             "which is adaptive in model 5)");
  add_parsed(app, "--engine", s.engine, parse_engine,
             "I/O engine: epoll, asio, uring (default: automatic, which is epoll unless QUINTET_ENGINE names another)");
}

void complete_measuring(compare_settings& s, const measuring_options& o, const usual_runs& usual,
                        const usual_runs& quick) {
  const usual_runs& unless_told = s.quick ? quick : usual;
  s.rounds = o.rounds.value_or(unless_told.rounds);
  s.duration = o.duration.value_or(unless_told.duration);
  s.warm_up = o.warm_up.value_or(unless_told.warm_up);
  if (o.within) fit_within(s, *o.within);
  s.seed = o.seed ? *o.seed : std::random_device()() % 1'000'000;
  if (s.program.empty()) s.program = std::filesystem::read_symlink("/proc/self/exe").string();
}

}  // namespace quintet::bench
