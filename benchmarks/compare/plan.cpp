// SPDX-License-Identifier: BSL-1.0
// plan.cpp: which runs, in which order, on which CPUs.
#include "compare/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace quintet::bench {
namespace {

constexpr unsigned most_blocking_connections = 1000;  // the hand-written blocking server has a thread for each

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<planned_run> contenders(const compare_settings& s, const workload& work, unsigned round) {
  std::vector<planned_run> out;
  for (const auto& model : s.models) out.push_back({&work, model, "", round});
  if (!s.peers || work.kind != work_kind::echo) return out;
  if (has(s.models, "single_reactor")) out.push_back({&work, "", "epoll", round});
  if (has(s.models, "thread_per_connection") && work.connections <= most_blocking_connections) {
    out.push_back({&work, "", "blocking", round});
  }
  return out;
}

double seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

placement place(const workload& work, const cpu_list& allowed) {
  if (work.kind != work_kind::echo || allowed.size() < 2) return {allowed, allowed};
  const auto middle = allowed.begin() + static_cast<std::ptrdiff_t>(allowed.size() / 2);
  // The client gets the first half: CPU 0 is where interrupts and other people's work tend to be.
  return {{middle, allowed.end()}, {allowed.begin(), middle}};
}

std::string cpu_text(const cpu_list& cpus) {
  std::string out;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    out += (out.empty() ? "" : ",") + std::to_string(cpus[i]);
    if (last > i) out += "-" + std::to_string(cpus[last]);
    i = last + 1;
  }
  return out;
}

std::string planned_run::label() const {
  const auto who = peer.empty() ? model : "hand-written " + peer;
  return counting() ? fmt::format("{} {} (counting)", work->name, who)
                    : fmt::format("{} {} round {}", work->name, who, round);
}

std::vector<planned_run> make_plan(const compare_settings& s) {
  std::mt19937_64 random(s.seed);
  std::vector<planned_run> plan;
  const auto add = [&](unsigned round) {
    for (const auto& work : s.workloads) {
      auto next = contenders(s, work, round);
      std::shuffle(next.begin(), next.end(), random);
      plan.insert(plan.end(), next.begin(), next.end());
    }
  };
  for (unsigned round = 1; round <= s.rounds; ++round) add(round);
  if (s.counters) add(0);
  return plan;
}

double measured_seconds(const compare_settings& s, const planned_run& run) {
  // Thousands of connections need that long until each had its turn a few times.
  if (run.work->connections > 1000) return std::max(1.0, seconds(s.duration));
  return run.counting() ? std::min(0.25, seconds(s.duration)) : seconds(s.duration);
}

double warm_up_seconds(const compare_settings& s, const planned_run& run) {
  return run.work->connections > 1000 ? std::max(0.5, seconds(s.warm_up)) : seconds(s.warm_up);
}

double expected_seconds(const compare_settings& s, const planned_run& run) {
  const double connecting = 0.15 + 0.0002 * run.work->connections;  // starting, calibrating, connecting, stopping
  return measured_seconds(s, run) + warm_up_seconds(s, run) + connecting;
}

double expected_seconds(const compare_settings& s, const std::vector<planned_run>& plan) {
  double sum = 0;
  for (const auto& run : plan) sum += expected_seconds(s, run);
  return sum;
}

void fit_within(compare_settings& s, std::chrono::nanoseconds limit) {
  constexpr auto shortest = std::chrono::milliseconds(100), longest = std::chrono::milliseconds(10'000);
  auto low = shortest, high = longest;
  const auto plan = make_plan(s);
  // The time that a plan takes grows with the duration, so halving the interval finds the longest that fits.
  while (high - low > std::chrono::milliseconds(10)) {
    s.duration = (low + high) / 2;
    (expected_seconds(s, plan) <= seconds(limit) ? low : high) =
        std::chrono::duration_cast<std::chrono::milliseconds>(s.duration);
  }
  s.duration = low;
}

}  // namespace quintet::bench
