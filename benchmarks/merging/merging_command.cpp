// SPDX-License-Identifier: BSL-1.0
// merging_command.cpp: `quintet-bench merging`: its options, then rounds, table and JSON.
#include "command_line.hpp"
#include "commands.hpp"
#include "compare/child_process.hpp"
#include "compare/environment.hpp"
#include "compare/interruption.hpp"
#include "compare/progress.hpp"
#include "compare/settings.hpp"
#include "merging/merging.hpp"
#include "output_file.hpp"
#include "piece_stream.hpp"
#include "report/document.hpp"
#include "report/statistics.hpp"
#include "report/text.hpp"

#include <fmt/format.h>
#include <boost/json/array.hpp>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

namespace quintet::bench {
namespace {

namespace json = boost::json;

constexpr count_range usual_sizes[] = {{8, 128}, {8, 16 * 1024}};

constexpr auto* footer =
    "One connection; the sender writes messages while writable() is true. merged: messages share a system call.\n"
    "Examples:\n"
    "  quintet-bench merging --sizes 8..128\n"
    "  quintet-bench merging --model reactor_pool --rounds 9 --json merging.json";

// Values from the command line that have defaults.
struct chosen {
  std::optional<unsigned> rounds;
  std::optional<std::chrono::nanoseconds> duration;
  bool quick = false;
};

struct outcome {
  std::vector<merging_result> results;
  bool was_interrupted = false;
};

std::vector<sender> senders(const merging_settings& s) {
  std::vector<sender> out;
  for (const count_range sizes : s.sizes ? std::vector{*s.sizes} : std::vector(usual_sizes, std::end(usual_sizes))) {
    out.push_back({sizes, true});
    out.push_back({sizes, false});
  }
  return out;
}

std::string text_of(count_range sizes) { return fmt::format("{} to {} B", sizes.min, sizes.max); }

outcome measure(const merging_settings& s, const placement& where) {
  const auto all = senders(s);
  const interruption_guard guard;
  outcome out;
  const double each = std::chrono::duration<double>(s.duration).count() + 0.2;
  progress shown(s.rounds * all.size(), each * s.rounds * static_cast<double>(all.size()));
  try {
    for (unsigned round = 1; round <= s.rounds; ++round) {
      for (const sender& who : all) {
        const auto label = fmt::format("{} {}, round {}", text_of(who.sizes), who.label(), round);
        shown.begins(label);
        out.results.push_back(measure_merging(s, who, where));
        out.results.back().round = round;
        shown.done(label, grouped(out.results.back().messages_per_s) + " messages/s", each);
      }
    }
  } catch (const interrupted&) {
    out.was_interrupted = true;
    fmt::print(stderr, "Interrupted: these are the results so far.\n");
  }
  return out;
}

using field = double merging_result::*;

std::vector<double> rounds_of(const outcome& o, const sender& who, field f) {
  std::vector<double> out;
  for (const merging_result& r : o.results) {
    const bool same = r.of.merging == who.merging && r.of.sizes.min == who.sizes.min && r.of.sizes.max == who.sizes.max;
    if (same) out.push_back(r.*f);
  }
  return out;
}

/// Returns the ratio round by round, because a disturbance affects both runs of a round.
std::optional<sample_summary> gain(const outcome& o, count_range sizes) {
  auto merged = rounds_of(o, {sizes, true}, &merging_result::messages_per_s);
  const auto single = rounds_of(o, {sizes, false}, &merging_result::messages_per_s);
  merged.resize(std::min(merged.size(), single.size()));
  for (std::size_t i = 0; i < merged.size(); ++i) merged[i] /= single[i];
  return summarise_samples(merged);
}

std::string line(const outcome& o, const sender& who) {
  const auto median = [&](field f) { return summarise_samples(rounds_of(o, who, f))->median; };
  return fmt::format(
      "  {:<26}{:>13}{:>9}{:>11}{:>13}{:>8}{:>10}{:>10}\n", who.label(),
      grouped(median(&merging_result::messages_per_s)), significant(median(&merging_result::bytes_per_s) / 1e6),
      significant(median(&merging_result::writes_per_message)),
      micros(median(&merging_result::sender_cpu_us_per_message)), percent(median(&merging_result::sender_cpu)),
      percent(median(&merging_result::receiver_cpu)), mebibytes(median(&merging_result::sender_rss_bytes)));
}

std::string table(const outcome& o, const merging_settings& s, const placement& where) {
  std::string out;
  for (const sender& who : senders(s)) {
    if (rounds_of(o, who, &merging_result::messages_per_s).empty()) continue;
    if (who.merging)
      out += fmt::format(
          "{}, one connection, {} (sender on CPU {}, receiver on CPU {})\n  {:<26}{:>13}{:>9}{:>11}{:>13}"
          "{:>8}{:>10}{:>10}\n",
          text_of(who.sizes), s.model, cpu_text(where.server), cpu_text(where.client), "", "messages/s", "MB/s",
          "writes/msg", "CPU/message", "its CPU", "receiver", "memory");
    out += line(o, who);
    const auto faster = who.merging ? std::nullopt : gain(o, who.sizes);
    if (faster)
      out += fmt::format("  -> merged: {} times as many messages (rounds from {} to {})\n\n",
                         significant(faster->median), significant(faster->min), significant(faster->max));
  }
  return out;
}

json::object compose(const outcome& o, const merging_settings& s, json::object machine) {
  json::array results;
  for (const merging_result& r : o.results) {
    results.push_back(json::object{{"sizes", fmt::format("{}..{}", r.of.sizes.min, r.of.sizes.max)},
                                   {"merging", r.of.merging},
                                   {"round", r.round},
                                   {"messages_per_s", r.messages_per_s},
                                   {"bytes_per_s", r.bytes_per_s},
                                   {"writes_per_message", r.writes_per_message},
                                   {"sender_cpu_us_per_message", r.sender_cpu_us_per_message},
                                   {"sender_cpu", r.sender_cpu},
                                   {"receiver_cpu", r.receiver_cpu},
                                   {"sender_rss_bytes", r.sender_rss_bytes}});
  }
  json::object settings{{"model", s.model},
                        {"engine", to_string(s.engine)},
                        {"static_output", s.static_output},
                        {"rounds", s.rounds},
                        {"duration_s", std::chrono::duration<double>(s.duration).count()},
                        {"interrupted", o.was_interrupted}};
  return {{"command", "merging"},
          {"environment", std::move(machine)},
          {"settings", std::move(settings)},
          {"results", std::move(results)}};
}

merging_settings complete(merging_settings s, const chosen& c) {
  using namespace std::chrono_literals;
  s.rounds = c.rounds.value_or(c.quick ? 3 : 5);
  s.duration = c.duration.value_or(c.quick ? 200ms : 1s);
  if (s.program.empty()) s.program = std::filesystem::read_symlink("/proc/self/exe").string();
  return s;
}

int run_command(const merging_settings& s) {
  const environment machine;
  const auto where = place(require_workload("echo"), allowed_cpus());
  const auto found = measure(s, where);
  fmt::print("{}", table(found, s, where));
  std::fflush(stdout);
  if (!s.json_file.empty()) write_output(s.json_file, pretty(compose(found, s, machine.finish())) + '\n');
  return found.was_interrupted ? 130 : 0;
}

void add_options(CLI::App& app, merging_settings& s, chosen& c) {
  app.add_flag("--quick", c.quick, "Three rounds of 200 ms");
  add_parsed(app, "--model", s.model, parse_one_model, "Model of the sender (default: single_reactor)")
      ->type_name("NAME");
  add_parsed(app, "--engine", s.engine, parse_engine,
             "I/O engine of the sender: epoll, asio, uring (default: automatic)")
      ->type_name("NAME");
  add_parsed(app, "--sizes", s.sizes, piece_stream::parse_sizes, "Bytes of a message (default: 8..128, then 8..16384)")
      ->type_name("MIN..MAX");
  add_parsed(app, "--static-output", s.static_output, number_in<std::size_t>(0),
             "Bytes of send buffers that the sender's loop allocates in advance (default: 0)")
      ->type_name("BYTES");
  add_parsed(app, "--rounds", c.rounds, number_in<unsigned>(1, 1000), "Runs of each (default: 5)")->type_name("N");
  add_parsed(app, "--duration", c.duration, positive_duration, "Measured time of a run (default: 1s)")->type_name("S");
  add_parsed(app, "--json", s.json_file, parse_output, "Write all figures to this file; -: to the standard output")
      ->type_name("FILE");
  add_parsed(
      app, "--program", s.program, [](const std::string& t) { return t; },
      "Path of the quintet-bench that sends (default: this one)")
      ->type_name("PATH");
}

}  // namespace

void add_merging(CLI::App& app) {
  auto* sub =
      app.add_subcommand("merging", "Compares merged writes with one write for each message, on one connection");
  const auto s = std::make_shared<merging_settings>();
  const auto c = std::make_shared<chosen>();
  add_options(*sub, *s, *c);
  sub->footer(footer);
  sub->callback([s, c] {
    if (const int status = run_command(complete(*s, *c))) throw CLI::RuntimeError(status);
  });
}

}  // namespace quintet::bench
