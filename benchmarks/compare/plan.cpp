// SPDX-License-Identifier: BSL-1.0
// plan.cpp: the runs, their order and their CPUs.
#include "compare/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace quintet::bench {
namespace {

constexpr unsigned most_blocking_connections = 1000;  // the hand-written blocking server has a thread for each

double seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

placement place(const workload& work, const cpu_list& allowed) {
  const bool io_alone = work.kind == work_kind::echo || work.kind == work_kind::timestamp;
  if (!io_alone || allowed.size() < 2) return {allowed, allowed};
  const auto middle = allowed.begin() + static_cast<std::ptrdiff_t>(allowed.size() / 2);
  // The client gets the first half: interrupts and other programs tend to run on CPU 0.
  return {{middle, allowed.end()}, {allowed.begin(), middle}};
}

placement place(const compare_settings& s, const workload& work) {
  if (s.shared_cpus) return {allowed_cpus(), allowed_cpus()};
  auto where = place(work, allowed_cpus());
  if (s.one_cpu) where.server.resize(1);
  return where;
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
  const auto threads = work->threads ? fmt::format(", {} threads", *work->threads) : "";
  return counting() ? fmt::format("{} {}{} (counting)", title(*work), who.label(), threads)
                    : fmt::format("{} {}{} round {}", title(*work), who.label(), threads, round);
}

std::vector<contender> contenders_of(const std::vector<std::string>& models, bool with_peers) {
  const auto has = [&](std::string_view name) { return std::find(models.begin(), models.end(), name) != models.end(); };
  std::vector<contender> out;
  for (const auto& model : models) out.push_back({.model = model});
  if (with_peers && has("single_reactor")) out.push_back({.peer = "epoll"});
  if (with_peers && has("thread_per_connection")) out.push_back({.peer = "blocking"});
  return out;
}

bool takes_part(const contender& who, const workload& work) {
  if (!who.is_peer()) return true;
  return work.kind == work_kind::echo && (who.peer != "blocking" || work.connections <= most_blocking_connections);
}

std::vector<planned_run> make_plan(const compare_settings& s) {
  std::mt19937_64 random(s.seed);
  std::vector<planned_run> plan;
  const auto add = [&](unsigned round) {
    for (const auto& work : s.workloads) {
      std::vector<planned_run> next;
      for (const auto& who : s.contenders) {
        if (takes_part(who, work)) next.push_back({&work, who, round});
      }
      std::shuffle(next.begin(), next.end(), random);
      plan.insert(plan.end(), next.begin(), next.end());
    }
  };
  for (unsigned round = 1; round <= s.rounds; ++round) add(round);
  if (s.counters) add(0);
  return plan;
}

double measured_seconds(const compare_settings& s, const planned_run& run) {
  // With thousands of connections it takes that long until each had a few turns.
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
  // The plan's time grows with the duration, so bisection finds the longest that fits.
  while (high - low > std::chrono::milliseconds(10)) {
    s.duration = (low + high) / 2;
    (expected_seconds(s, plan) <= seconds(limit) ? low : high) =
        std::chrono::duration_cast<std::chrono::milliseconds>(s.duration);
  }
  s.duration = low;
}

}  // namespace quintet::bench
