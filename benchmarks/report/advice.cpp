// SPDX-License-Identifier: BSL-1.0
// advice.cpp: which model to take for which handler, and what the library costs beside hand-written code.
#include "report/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/text.hpp"
#include "report/verdict.hpp"

namespace quintet::bench {
namespace json = boost::json;

namespace {

struct question {
  std::string_view handler;
  std::array<std::string_view, 3> workloads;  // the first that was measured answers it
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

// Among models that serve equally much, the one that clearly needs least CPU for it; empty if that is not clear either.
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

// Where others used the CPUs only CPU per request tells the models apart, and only of a cheap handler.
bool answer_by_cpu(advice& a, std::span<const combination> all) {
  const auto others = disturbance(all, *a.workload);
  const auto by_cpu = rank(all, *a.workload, cpu_per_request);
  if (a.handler != "cheap" || !others || by_cpu.level.empty() || by_cpu.too_noisy()) return false;
  a.model = by_cpu.level.front()->label();
  for (std::size_t i = 1; i < by_cpu.level.size(); ++i) a.as_good.push_back(by_cpu.level[i]->label());
  const auto v = judge(all, *a.workload);
  a.reason = fmt::format("{} Judged by CPU per request alone, since other programs had {} of the CPUs.", v.also,
                         percent(*others));
  return true;
}

void answer(advice& a, std::span<const combination> all) {
  if (answer_by_cpu(a, all)) return;
  const auto by_speed = rank(all, *a.workload, yardstick_of(*a.workload));
  const auto v = judge(all, *a.workload);
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

const run_result* counterpart(std::span<const run_result> results, const run_result& peer, std::string_view model) {
  const auto found = std::find_if(results.begin(), results.end(), [&](const run_result& r) {
    return r.workload == peer.workload && r.round == peer.round && r.model == std::string(model) && !r.error;
  });
  return found == results.end() ? nullptr : &*found;
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
  const auto* qualifier = ratio.samples > 1 && ratio.min <= 1 && ratio.max >= 1 ? ", within the noise the same" : "";
  return fmt::format("{} needs {:.2f} times the CPU of a hand-written {} server (rounds from {:.2f} to {:.2f}{}).",
                     model, ratio.median, peer, ratio.min, ratio.max, qualifier);
}

std::vector<peer_ratio> peer_ratios(std::span<const run_result> results) {
  std::vector<peer_ratio> out;
  std::vector<std::string> workloads;
  for (const auto& r : results) {
    if (std::find(workloads.begin(), workloads.end(), r.workload) == workloads.end()) workloads.push_back(r.workload);
  }
  for (const auto& workload : workloads) {
    for (const auto& pair : pairings) {
      std::vector<double> ratios;
      for (const auto& r : results) {
        if (r.workload != workload || r.peer != std::string(pair.peer) || r.error) continue;
        const auto* ours = counterpart(results, r, pair.model);
        const auto theirs = r.server_cpu_us_per_request.value_or(0);
        if (ours && ours->server_cpu_us_per_request && theirs > 0) {
          ratios.push_back(*ours->server_cpu_us_per_request / theirs);
        }
      }
      const auto ratio = summarise_samples(ratios);
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
