// SPDX-License-Identifier: BSL-1.0
// advice.cpp: recommends a model for each kind of handler, and shows the library's cost beside hand-written code.
#include "report/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/ratios.hpp"
#include "report/text.hpp"
#include "report/verdict.hpp"

namespace quintet::bench {
namespace json = boost::json;

namespace {

struct question {
  std::string_view handler;
  std::array<std::string_view, 3> workloads;  // the first measured one gives the answer
};
constexpr std::array questions{
    question{"cheap", {"echo", "pipeline", "large"}},
    question{"computing", {"cpu", "mixed", ""}},
    question{"blocking", {"blocking", "", ""}},
};

std::optional<std::string> measured(const std::vector<std::string>& names, const question& q) {
  for (const auto wanted : q.workloads) {
    const auto found = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
      return !wanted.empty() && name.substr(0, name.find(':')) == wanted;
    });
    if (found != names.end()) return *found;
  }
  return std::nullopt;
}

// Among models with equal throughput, returns the one that clearly needs least CPU per request. Empty if none does.
const combination* cheapest(std::span<const combination> all, const ranking& by_speed, std::string_view workload) {
  std::vector<combination> leaders;
  for (const auto* c : by_speed.level) leaders.push_back(*c);
  const auto by_cpu = rank(leaders, workload, cpu_per_request);
  if (by_cpu.level.size() != 1 || by_cpu.single_round) return nullptr;
  const auto& name = by_cpu.level.front()->first.model;
  const auto same = [&](const combination& c) { return c.first.workload == workload && c.first.model == name; };
  const auto found = std::find_if(all.begin(), all.end(), same);
  return found == all.end() ? nullptr : &*found;
}

// If other programs used the CPUs, only CPU per request distinguishes the models, and only for a cheap handler.
bool answer_by_cpu(advice& a, std::span<const combination> all) {
  const auto others = disturbance(all, *a.workload);
  const auto by_cpu = rank(all, *a.workload, cpu_per_request);
  if (a.handler != "cheap" || !others || by_cpu.level.empty() || by_cpu.too_noisy()) return false;
  a.model = by_cpu.level.front()->label();
  for (std::size_t i = 1; i < by_cpu.level.size(); ++i) a.as_good.push_back(by_cpu.level[i]->label());
  const auto v = compute_verdict(all, *a.workload);
  a.reason = fmt::format("{} Judged by CPU per request alone, since other programs had {} of the CPUs.", v.also,
                         percent(*others));
  return true;
}

void answer(advice& a, std::span<const combination> all) {
  if (answer_by_cpu(a, all)) return;
  const auto by_speed = rank(all, *a.workload, ranking_metric_of(*a.workload));
  const auto v = compute_verdict(all, *a.workload);
  a.reason = v.sentence;
  if (by_speed.level.empty()) return;
  if (by_speed.level.size() == 1) {
    a.model = by_speed.level.front()->label();
    return;
  }
  if (const auto* frugal = cheapest(all, by_speed, *a.workload)) {
    a.model = frugal->label();
    a.reason += fmt::format(" Of these {} needs least CPU: {} a request.", frugal->label(),
                            micros((*frugal)[cpu_per_request.field]->median));
  } else if (!by_speed.too_noisy()) {
    a.model = by_speed.level.front()->label();
  }
  for (const auto* c : by_speed.level) {
    if (!a.model || c->label() != *a.model) a.as_good.push_back(c->label());
  }
}

struct pairing {
  std::string_view model, peer;
};
constexpr std::array pairings{pairing{"single_reactor", "epoll"}, pairing{"thread_per_connection", "blocking"}};

}  // namespace

std::vector<advice> advise(std::span<const combination> all) {
  const auto names = workload_names(all);
  std::vector<advice> out;
  for (const auto& q : questions) {
    advice a;
    a.handler = q.handler;
    a.workload = measured(names, q);
    a.reason = fmt::format("Not measured; add \"{}\" to --workloads.", q.workloads[0]);
    if (a.workload) answer(a, all);
    out.push_back(std::move(a));
  }
  return out;
}

std::string peer_ratio::sentence() const {
  return model + " needs " + ratio_text(ratio, "CPU", "a hand-written " + peer + " server") + ".";
}

std::vector<peer_ratio> peer_ratios(std::span<const run_result> results) {
  std::vector<peer_ratio> out;
  for (const auto& workload : workload_names(results)) {
    for (const auto& pair : pairings) {
      const auto ratio = paired_ratio(
          results, workload, cpu_per_request.field,
          [&](const run_result& r) { return r.model == std::string(pair.model); },
          [&](const run_result& r) { return r.peer == std::string(pair.peer); });
      if (ratio) out.push_back({workload, std::string(pair.model), std::string(pair.peer), *ratio});
    }
  }
  return out;
}

json::array to_json(std::span<const advice> all) {
  json::array out;
  for (const auto& a : all) {
    json::array as_good;
    for (const auto& name : a.as_good) as_good.push_back(json::value(name));
    out.push_back(json::object{{"handler", a.handler},
                               {"workload", text_or_null(a.workload)},
                               {"model", text_or_null(a.model)},
                               {"as_good", as_good},
                               {"reason", a.reason}});
  }
  return out;
}

json::array to_json(std::span<const peer_ratio> all) {
  json::array out;
  for (const auto& r : all) {
    out.push_back(json::object{{"workload", r.workload},
                               {"model", r.model},
                               {"peer", r.peer},
                               {"metric", "server_cpu_us_per_request"},
                               {"median", number(r.ratio.median)},
                               {"min", number(r.ratio.min)},
                               {"max", number(r.ratio.max)},
                               {"sentence", r.sentence()}});
  }
  return out;
}

}  // namespace quintet::bench
