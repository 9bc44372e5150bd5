// SPDX-License-Identifier: BSL-1.0
// memlat_command.cpp: `quintet-bench memlat`: its options, and rounds over all levels and all pairs of CPUs.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include "command_line.hpp"
#include "commands.hpp"
#include "compare/environment.hpp"
#include "compare/interruption.hpp"
#include "compare/progress.hpp"
#include "compare/settings.hpp"
#include "memlat/caches.hpp"
#include "memlat/chase.hpp"
#include "memlat/memlat_report.hpp"
#include "memlat/ping_pong.hpp"
#include "output_file.hpp"
#include "report/document.hpp"

namespace quintet::bench {
namespace {

constexpr std::size_t most_pairs = 16;

constexpr auto* footer =
    "Examples:\n"
    "  quintet-bench memlat\n"
    "  quintet-bench memlat --cpus 0,4,8 --rounds 9 --json memlat.json";

struct chosen {
  std::optional<unsigned> rounds;
  std::optional<std::chrono::nanoseconds> duration;
  cpu_list cpus;
  std::string json_file;
  bool quick = false;
};

struct level {
  latency found;
  std::unique_ptr<pointer_chase> chase;
};

struct pair_of_cpus {
  latency found;
  unsigned first, second;
};

class measuring {
 public:
  explicit measuring(const chosen& c)
      : rounds_(c.rounds.value_or(c.quick ? 3 : 5)),
        each_(c.duration.value_or(std::chrono::milliseconds(c.quick ? 50 : 200))) {
    const auto cpus = c.cpus.empty() ? allowed_cpus() : c.cpus;
    make_levels(cpus.front());
    for (std::size_t i = 1; i < cpus.size() && i <= most_pairs; ++i)
      pairs_.push_back({{fmt::format("CPU {} to CPU {}", cpus[0], cpus[i]), 0, {}}, cpus[0], cpus[i]});
    if (pairs_.empty()) not_known_.emplace_back("what a line takes from one CPU to another: there is one CPU");
    not_known_.emplace_back("whether two CPUs of a virtual machine are two cores, or two threads of one");
    not_known_.emplace_back("what of a load is the translation of its address, where the kernel gave no huge pages");
    not_known_.emplace_back("who else uses a cache that the CPU shares with others: it may hold less than it is told");
  }

  // Returns false after Ctrl-C.
  bool run() {
    const interruption_guard guard;
    const double seconds = std::chrono::duration<double>(each_).count() + 0.05;
    const auto count = rounds_ * (levels_.size() + pairs_.size());
    progress shown(count, seconds * static_cast<double>(count));
    const auto measure = [&](latency& l, unsigned round, auto how) {
      const auto label = fmt::format("{}, round {}", l.name, round);
      shown.begins(label);
      l.ns.push_back(how());
      shown.done(label, fmt::format("{:.2f} ns", l.ns.back()), seconds);
      return !interruption_guard::happened();
    };
    for (unsigned round = 1; round <= rounds_; ++round) {
      for (level& l : levels_) {
        if (!measure(l.found, round, [&] { return l.chase->measure(each_); })) return false;
      }
      for (pair_of_cpus& p : pairs_) {
        if (!measure(p.found, round, [&] { return measure_ping_pong(p.first, p.second, each_); })) return false;
      }
    }
    return true;
  }

  memlat_findings findings() const {
    memlat_findings out{{}, {}, not_known_};
    for (const level& l : levels_) out.loads.push_back(l.found);
    for (const pair_of_cpus& p : pairs_) out.passes.push_back(p.found);
    return out;
  }

 private:
  void make_levels(unsigned cpu) {
    pin_thread({cpu});  // memory is then allocated near this CPU, and small sets stay in its caches
    const auto caches = read_caches(cpu);
    if (caches.empty()) not_known_.emplace_back("L1, L2, L3: the kernel does not tell how large they are");
    const auto memory =
        static_cast<std::size_t>(::sysconf(_SC_AVPHYS_PAGES)) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    for (const working_set& w : working_sets(caches, memory / 4, not_known_))
      levels_.push_back(
          {{w.name, static_cast<double>(w.bytes), {}}, std::make_unique<pointer_chase>(w.bytes, w.bytes)});
  }

  unsigned rounds_;
  std::chrono::nanoseconds each_;
  std::vector<level> levels_;
  std::vector<pair_of_cpus> pairs_;
  std::vector<std::string> not_known_;
};

int run_command(const chosen& c) {
  const environment machine;
  measuring all(c);
  const bool whole = all.run();
  const auto found = all.findings();
  fmt::print("{}", memlat_table(found));
  std::fflush(stdout);
  if (!c.json_file.empty()) {
    auto out = compose_memlat(found);
    out["command"] = "memlat";
    out["environment"] = machine.finish();
    out["interrupted"] = !whole;
    write_output(c.json_file, pretty(out));
  }
  return whole ? 0 : 130;
}

}  // namespace

void add_memlat(CLI::App& app) {
  auto* sub =
      app.add_subcommand("memlat", "Measures the latency of L1, L2, L3 and DRAM, and of a cache line between two CPUs");
  const auto c = std::make_shared<chosen>();
  sub->add_flag("--quick", c->quick, "Three short rounds");
  add_parsed(*sub, "--rounds", c->rounds, number_in<unsigned>(1, 1000), "Rounds (default: 5; 3 with --quick)");
  add_parsed(*sub, "--duration", c->duration, positive_duration,
             "Time of each measurement in a round (default: 200ms; 50ms with --quick)");
  add_parsed(*sub, "--cpus", c->cpus, parse_cpus,
             "Loads run on the first CPU; cache lines go from it to each of the others (default: all allowed CPUs, at "
             "most 17)");
  add_parsed(*sub, "--json", c->json_file, parse_output, "Write all figures to this file; -: to the standard output");
  sub->footer(footer);
  sub->callback([c] {
    if (const int status = run_command(*c)) throw CLI::RuntimeError(status);
  });
}

}  // namespace quintet::bench
