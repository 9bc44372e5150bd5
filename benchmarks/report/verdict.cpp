// SPDX-License-Identifier: BSL-1.0
// verdict.cpp: the best models of a workload and their lead, or that the noise is too large to tell.
#include "report/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "report/text.hpp"

namespace quintet::bench {
namespace json = boost::json;

namespace {

std::string_view base_name(std::string_view workload) { return workload.substr(0, workload.find(':')); }

constexpr ranking_metric throughput{"requests_per_s", &run_result::requests_per_s, true};
constexpr ranking_metric median_latency{"p50_us", &run_result::p50_us, false};
constexpr ranking_metric heartbeat{"heartbeat_p99_us", &run_result::heartbeat_p99_us, false};

// Returns how many times better a is than b.
double times_better(const ranking_metric& y, double a, double b) {
  const double over = y.more_is_better ? a : b;
  const double under = y.more_is_better ? b : a;
  return under > 0 ? over / under : 1;
}

std::string value_text(const ranking_metric& y, double value) {
  return y.more_is_better ? grouped(value) + " requests/s" : micros(value);
}

std::string subject(const ranking_metric& y) {
  if (y.key == "requests_per_s") return "serves most requests";
  if (y.key == "p50_us") return "answers fastest (p50)";
  if (y.key == "heartbeat_p99_us") return "keeps its heartbeat steadiest (p99)";
  return "needs least CPU per request";
}

// Compares the best with another one: ", 12 % more than x", "; x takes 2.1 times as long".
std::string margin(const ranking_metric& y, double times, std::string_view other) {
  if (y.more_is_better) {
    return times >= 1.95 ? fmt::format(", {} times as many as {}", significant(times), other)
                         : fmt::format(", {} more than {}", percent(times - 1), other);
  }
  if (times < 1.95) return fmt::format(", {} less than {}", percent(1 - 1 / times), other);
  const auto* verb = y.key == cpu_per_request.key ? "needs {} times as much" : "takes {} times as long";
  return fmt::format("; {} {}", other, fmt::format(fmt::runtime(verb), significant(times)));
}

std::vector<std::string> labels(const std::vector<const combination*>& list) {
  std::vector<std::string> out;
  for (const auto* c : list) out.push_back(c->label());
  return out;
}

double median_of(const combination& c, const ranking_metric& y) { return c[y.field]->median; }

// Names the last model, if it is far behind: it says more about a workload than a close follower.
std::string far_behind(const ranking& r, const ranking_metric& y) {
  const auto& last = *r.behind.back();
  const auto times = times_better(y, median_of(*r.level.front(), y), median_of(last, y));
  if (r.behind.size() < 2 || times < 1.5) return ".";
  return margin(y, times, last.label()) + ".";
}

std::string sentence_for(const ranking& r, const ranking_metric& y) {
  if (r.level.empty()) return "No model gave figures for this workload.";
  const auto& best = *r.level.front();
  const auto best_text = value_text(y, median_of(best, y));
  if (r.too_noisy()) {
    return fmt::format("Too noisy to tell which {}: the spreads of the {} models overlap (best median {}, {}).",
                       subject(y), r.level.size(), best_text, best.label());
  }
  if (r.behind.empty()) return fmt::format("{}: {} (nothing to compare it with).", best.label(), best_text);
  const auto& next = *r.behind.front();
  const auto times = times_better(y, median_of(best, y), median_of(next, y));
  if (r.single_round) {
    return fmt::format("{} leads with {}{}, in a single round; more rounds would show whether that holds.",
                       best.label(), best_text, margin(y, times, next.label()));
  }
  if (r.clear_winner()) {
    return fmt::format("{} {}: {}{}{}", best.label(), subject(y), best_text, margin(y, times, next.label()),
                       far_behind(r, y));
  }
  return fmt::format("{} lead and cannot be told apart (spreads overlap): {} {}{}{}", joined(labels(r.level)),
                     y.more_is_better ? "up to" : "down to", best_text, margin(y, times, next.label()),
                     far_behind(r, y));
}

bool handler_is_cheap(std::string_view workload) {
  constexpr std::string_view expensive[] = {"cpu", "blocking", "mixed", "heartbeat"};
  return std::find(std::begin(expensive), std::end(expensive), base_name(workload)) == std::end(expensive);
}

}  // namespace

const ranking_metric cpu_per_request{"server_cpu_us_per_request", &run_result::server_cpu_us_per_request, false};

ranking_metric ranking_metric_of(std::string_view workload) {
  const auto base = base_name(workload);
  if (base == "latency") return median_latency;
  if (base == "heartbeat") return heartbeat;
  return throughput;
}

ranking rank(std::span<const combination> all, std::string_view workload, const ranking_metric& y) {
  std::vector<const combination*> order;
  for (const auto& c : all) {
    if (c.first.workload == workload && !c.is_peer() && c[y.field]) order.push_back(&c);
  }
  // Equal values keep their order in `all`, which is the order of their addresses.
  std::sort(order.begin(), order.end(), [&](const auto* a, const auto* b) {
    const double ours = median_of(*a, y), theirs = median_of(*b, y);
    if (ours != theirs) return y.more_is_better ? ours > theirs : ours < theirs;
    return std::less<>()(a, b);
  });
  ranking out;
  for (const auto* c : order) out.single_round = out.single_round || (*c)[y.field]->samples < 2;
  for (const auto* c : order) {
    const bool leads = c == order.front();
    const bool level = leads || (!out.single_round && overlap(*(*order.front())[y.field], *(*c)[y.field]));
    (level ? out.level : out.behind).push_back(c);
  }
  return out;
}

measurement disturbance(std::span<const combination> all, std::string_view workload) {
  constexpr double bearable = 0.15;
  std::vector<double> shares;
  for (const auto& c : all) {
    const auto& share = c[&run_result::foreign_cpu_fraction];
    if (c.first.workload == workload && share) shares.push_back(share->median);
  }
  const auto usual = summarise_samples(shares);
  return usual && usual->median > bearable ? measurement(usual->median) : std::nullopt;
}

verdict compute_verdict(std::span<const combination> all, std::string_view workload) {
  const auto y = ranking_metric_of(workload);
  const auto r = rank(all, workload, y);
  verdict out;
  out.workload = workload;
  out.metric = y.key;
  out.level = labels(r.level);
  out.too_noisy = r.too_noisy();
  out.sentence = sentence_for(r, y);
  if (r.clear_winner()) out.winner = r.level.front()->label();
  if (!r.level.empty() && !r.behind.empty()) {
    out.ahead_by = times_better(y, median_of(*r.level.front(), y), median_of(*r.behind.front(), y));
  }
  if (const auto others = disturbance(all, workload)) {
    out.caution = fmt::format("Other programs had {} of the CPUs meanwhile: {}.", percent(*others),
                              handler_is_cheap(workload) ? "believe CPU per request rather than throughput and latency"
                                                         : "run it again on a quiet machine");
  }
  const auto cpu = rank(all, workload, cpu_per_request);
  out.fastest = labels(rank(all, workload, throughput).level);
  out.frugal = labels(cpu.level);
  if (handler_is_cheap(workload) && !cpu.level.empty()) out.also = sentence_for(cpu, cpu_per_request);
  if (base_name(workload) == "mixed") {
    out.also = "Nine requests in ten are cheap: " + sentence_for(rank(all, workload, median_latency), median_latency);
  }
  return out;
}

std::string noise_sentence(std::span<const combination> all) {
  std::vector<double> spreads, foreign;
  const combination* worst = nullptr;
  for (const auto& c : all) {
    if (const auto& others = c[&run_result::foreign_cpu_fraction]) foreign.push_back(others->median);
    const auto& speed = c[throughput.field];
    if (!speed || speed->samples < 2) continue;
    spreads.push_back(speed->spread());
    if (!worst || speed->spread() > (*worst)[throughput.field]->spread()) worst = &c;
  }
  const auto usual = summarise_samples(spreads);
  std::string out = "Noise: each combination ran once, so nothing is known about it; use --rounds 3 or more.";
  if (usual) {
    out = fmt::format(
        "Noise: between rounds that should be equal the throughput moved by {} (median of {} combinations), "
        "at worst by {} ({}, {}). Smaller differences than that mean nothing.",
        percent(usual->median), usual->samples, percent(usual->max), worst->label(), worst->first.workload);
  }
  constexpr double quiet = 0.05;
  const auto others = summarise_samples(foreign);
  if (others && others->median > quiet) {
    out += fmt::format(
        " Other programs had {} of the CPUs meanwhile (at worst {}): on a quiet machine the figures are better.",
        percent(others->median), percent(others->max));
  }
  return out;
}

json::object to_json(const verdict& v) {
  const auto names = [](const std::vector<std::string>& list) {
    json::array out;
    for (const auto& name : list) out.push_back(json::value(name));
    return out;
  };
  return {{"workload", v.workload},
          {"metric", v.metric},
          {"winner", text_or_null(v.winner)},
          {"level", names(v.level)},
          {"ahead_by", number(v.ahead_by)},
          {"too_noisy", v.too_noisy},
          {"sentence", v.sentence},
          {"also", v.also},
          {"caution", v.caution},
          {"fastest", names(v.fastest)},
          {"frugal", names(v.frugal)}};
}

}  // namespace quintet::bench
