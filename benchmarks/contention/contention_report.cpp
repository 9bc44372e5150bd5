// SPDX-License-Identifier: BSL-1.0
// contention_report.cpp: a block for each number of threads.
#include "contention/contention_report.hpp"

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

constexpr double published_shared = 350'000, published_separate = 900'000;

std::vector<double> thread_counts(const std::vector<combination>& summary) {
  std::vector<double> out;
  for (const combination& c : summary) out.push_back(c.first.loops.value_or(0));
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// Returns separate / shared, in each round that has both.
std::optional<sample_summary> gain(const comparison& c, double threads, measurement run_result::* field) {
  const auto is = [threads](const char* peer) {
    return [threads, peer](const run_result& r) { return r.peer == peer && r.loops == threads; };
  };
  return paired_ratio(c.results, c.results.front().workload, field, is(separate_peer), is(shared_peer));
}

std::string line(const combination& row) {
  const bool shared = row.first.peer == shared_peer;
  const auto name = fmt::format("{:>4.0f} {:<14}{}", row.first.loops.value_or(0), "thread(s)",
                                shared ? "one io_context" : "an io_context each");
  if (row.rounds == 0) return fmt::format("  {:<40}  failed: {}\n", name, row.error.value_or("no figures"));
  const auto& speed = row[&run_result::requests_per_s];
  return fmt::format("  {:<40}{:>11}{:>8}{:>10}{:>10}{:>10}{:>9}{:>10}\n", name,
                     cell(row, &run_result::requests_per_s, grouped), speed ? percent(speed->spread()) : "-",
                     cell(row, &run_result::p50_us, micros), cell(row, &run_result::p999_us, micros),
                     cell(row, &run_result::server_cpu_us_per_request, micros),
                     cell(row, &run_result::futex_per_request, significant),
                     cell(row, &run_result::syscalls_per_request, significant)) +
         failure_remarks(row);
}

std::string gain_line(const comparison& c, double threads) {
  const auto speed = gain(c, threads, &run_result::requests_per_s), tail = gain(c, threads, &run_result::p999_us);
  if (!speed || !tail) return "";
  return fmt::format("  -> {:.0f}: an io_context each has {}, {}\n", threads,
                     ratio_text(*speed, "requests/s", "one io_context"), ratio_text(*tail, "p99.9", "it"));
}

}  // namespace

std::string contention_table(const comparison& c) {
  const auto summary = summarise(c.results);
  if (summary.empty()) return "";
  auto out =
      title_line(summary.front()) + fmt::format("\n  {:<40}{:>11}{:>8}{:>10}{:>10}{:>10}{:>9}{:>10}\n", "",
                                                "requests/s", "spread", "p50", "p99.9", "CPU/req", "futex", "syscalls");
  for (const double threads : thread_counts(summary)) {
    for (const char* peer : {shared_peer, separate_peer}) {
      for (const combination& row : summary) {
        if (row.first.peer == peer && row.first.loops.value_or(0) == threads) out += line(row);
      }
    }
    out += gain_line(c, threads);
  }
  out += fmt::format(
      "\nPublished (MongoDB's servers, number of cores not told): one io_context for many threads about {} requests/s, "
      "many io_contexts {} and more: {:.2f} times.\n",
      grouped(published_shared), grouped(published_separate), published_separate / published_shared);
  return out + noise_sentence(summary) + "\n";
}

json::object compose_contention(const comparison& c) {
  json::array ratios;
  const auto add = [&](double threads, const char* key, measurement run_result::* field) {
    if (const auto found = gain(c, threads, field))
      ratios.push_back(ratio_json({{"threads", number(threads, true)}}, key, *found));
  };
  for (const double threads : thread_counts(summarise(c.results))) {
    add(threads, "requests_per_s", &run_result::requests_per_s);
    add(threads, "p999_us", &run_result::p999_us);
  }
  auto out = compose_figures(c);
  out["ratios"] = std::move(ratios);
  out["published"] = {{"shared_requests_per_s", published_shared}, {"separate_requests_per_s", published_separate}};
  return out;
}

}  // namespace quintet::bench
