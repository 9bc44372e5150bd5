// SPDX-License-Identifier: BSL-1.0
// accept_report.cpp: a line for each accept strategy, then their ratios.
#include "accept/accept_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <vector>

#include "report/ratios.hpp"
#include "report/summary.hpp"
#include "report/table.hpp"
#include "report/text.hpp"
#include "report/verdict.hpp"

namespace quintet::bench {
namespace json = boost::json;

namespace {

const contender usual;

// Matches runs of one strategy, or of the peer if `strategy` is empty.
result_filter is(const std::string& strategy) {
  return [strategy](const run_result& r) { return strategy.empty() ? r.peer.has_value() : r.accept == strategy; };
}

std::string name_of(const combination& row) {
  return row.is_peer() ? row.label() : row.first.accept.value_or(usual.accept);
}

std::string hundredths(double value) { return fmt::format("{:.2f}", value); }

// Returns the user-space share of the server's CPU time.
std::string user_share(const combination& row) {
  const auto& all = row[&run_result::server_cpu_us_per_request];
  const auto& user = row[&run_result::server_user_us_per_request];
  return all && user && all->median > 0 ? percent(user->median / all->median) : "-";
}

std::string heading() {
  return fmt::format("  {:<19}{:>14}{:>8}{:>10}{:>7}{:>9}{:>9}{:>9}{:>9}{:>8}{:>10}\n", "", "connections/s", "spread",
                     "CPU/conn", "user", "p50", "p99", "local", "balance", "wakes", "syscalls");
}

std::string line(const combination& row) {
  if (row.rounds == 0) return fmt::format("  {:<19}  failed: {}\n", name_of(row), row.error.value_or("no figures"));
  const auto& speed = row[&run_result::requests_per_s];
  return fmt::format("  {:<19}{:>14}{:>8}{:>10}{:>7}{:>9}{:>9}{:>9}{:>9}{:>8}{:>10}\n", name_of(row),
                     cell(row, &run_result::requests_per_s, grouped), speed ? percent(speed->spread()) : "-",
                     cell(row, &run_result::server_cpu_us_per_request, micros), user_share(row),
                     cell(row, &run_result::p50_us, micros), cell(row, &run_result::p99_us, micros),
                     cell(row, &run_result::accepted_locally, percent),
                     cell(row, &run_result::accept_balance, hundredths),
                     cell(row, &run_result::accept_wakes_per_connection, hundredths),
                     cell(row, &run_result::syscalls_per_request, significant)) +
         remarks(row);
}

struct accept_ratio {
  std::string strategy, reference, metric, text;
  sample_summary values;
};

std::vector<accept_ratio> ratios(const comparison& c, const std::vector<combination>& summary) {
  std::vector<accept_ratio> out;
  const auto peer = std::find_if(summary.begin(), summary.end(), [](const combination& row) { return row.is_peer(); });
  for (const auto& row : summary) {
    if (row.is_peer()) continue;
    const auto name = name_of(row);
    const auto add = [&](measurement run_result::* field, const char* metric, const char* what,
                         const std::string& reference, const std::string& label) {
      if (const auto found = paired_ratio(c.results, row.first.workload, field, is(name), is(reference)))
        out.push_back({name, label, metric, ratio_text(*found, what, label), *found});
    };
    if (name != usual.accept)
      add(&run_result::requests_per_s, "requests_per_s", "connections", usual.accept, usual.accept);
    if (peer == summary.end()) continue;
    // The hand-written loop has one thread, so its throughput is not comparable with several.
    if (peer->first.peer == "nginx")
      add(&run_result::requests_per_s, "requests_per_s", "connections", "", peer->label());
    add(&run_result::server_cpu_us_per_request, "server_cpu_us_per_request", "CPU a connection", "", peer->label());
  }
  return out;
}

std::string legend(const combination& first) {
  const auto& softirq = first[&run_result::machine_softirq_fraction];
  return "  user: of the server's CPU, the rest is the kernel's. local: received on the CPU of the loop that accepts,\n"
         "  each of which is on one; by chance one in the number of CPUs.\n"
         "  balance: connections of the busiest loop / of the average one. wakes: of threads that went to accept, for\n"
         "  each connection, while nothing else happens. Times and speed: server and client share the CPUs.\n" +
         (softirq ? fmt::format("  softirq, of the whole machine and whoever caused it: {} of the time of its CPUs.\n",
                                percent(softirq->median))
                  : "");
}

}  // namespace

std::string accept_table(const comparison& c) {
  const auto summary = summarise(c.results);
  if (summary.empty()) return "Nothing was measured.\n";
  const auto& first = summary.front();
  auto out = title_line(first) + "\n" + heading();
  for (const auto& row : summary) out += line(row);
  out += legend(first);
  for (const auto& r : ratios(c, summary)) out += fmt::format("  -> {}: {}.\n", r.strategy, r.text);
  return out + noise_sentence(summary) + "\n";
}

json::object compose_accept(const comparison& c) {
  json::array all;
  for (const auto& r : ratios(c, summarise(c.results)))
    all.push_back(json::object{{"accept", r.strategy},
                               {"reference", r.reference},
                               {"metric", r.metric},
                               {"median", number(r.values.median)},
                               {"min", number(r.values.min)},
                               {"max", number(r.values.max)}});
  auto out = compose_figures(c);
  out["ratios"] = std::move(all);
  return out;
}

}  // namespace quintet::bench
