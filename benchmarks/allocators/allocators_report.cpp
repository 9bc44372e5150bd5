// SPDX-License-Identifier: BSL-1.0
// allocators_report.cpp: rows, ratios to glibc's allocator in the same round, and a sentence for each model.
#include "allocators/allocators_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <cmath>
#include <vector>

#include "allocators/preload.hpp"
#include "report/ratios.hpp"
#include "report/summary.hpp"
#include "report/table.hpp"
#include "report/text.hpp"
#include "report/verdict.hpp"

namespace quintet::bench {
namespace json = boost::json;

namespace {

// By chance, all of five ratios are on the same side in one case of 16; with three it would be one of four.
constexpr std::size_t enough_rounds = 5;

struct standing {
  const combination* row;
  std::optional<sample_summary> ratio;  // of CPU time, or of instructions; nullopt for glibc's

  std::string allocator() const { return row->first.allocator.value_or("?"); }
  bool is_reference() const { return allocator() == own_allocator; }
  // Instruction counts repeat almost exactly, so a small tolerance is enough.
  bool differs(bool counted) const {
    if (counted) return std::abs(ratio->median - 1) >= 0.005;
    return ratio->samples >= enough_rounds && (ratio->min > 1 || ratio->max < 1);
  }
};

// The allocators of one workload and model.
struct block {
  std::string workload, model;
  std::vector<standing> all;
};

std::vector<block> blocks_of(const comparison& c, const std::vector<combination>& summary) {
  std::vector<block> out;
  for (const combination& row : summary) {
    const auto model = row.first.model.value_or("?");
    const auto same = [&](const block& b) { return b.workload == row.first.workload && b.model == model; };
    if (std::none_of(out.begin(), out.end(), same)) out.push_back({row.first.workload, model, {}});
    block& into = *std::find_if(out.begin(), out.end(), same);
    into.all.push_back({&row, std::nullopt});
    if (into.all.back().is_reference()) continue;
    const auto of = [&](std::string_view allocator) {
      return [&row, allocator](const run_result& r) { return r.model == row.first.model && r.allocator == allocator; };
    };
    into.all.back().ratio =
        paired_ratio(c.results, row.first.workload, cost_of(row).field, of(*row.first.allocator), of(own_allocator));
  }
  return out;
}

std::string heading(const block& b) {
  if (cost_of(*b.all.front().row).counted)
    return fmt::format("  {:<22}{:>14}{:>8}\n", b.model, "instructions", "ratio");
  return fmt::format("  {:<22}{:>10}{:>7}{:>14}{:>12}{:>8}{:>9}{:>9}{:>10}\n", b.model, "CPU/req", "ratio",
                     "its rounds", "requests/s", "spread", "p50", "p99", "memory");
}

std::string line(const standing& s) {
  const auto& row = *s.row;
  const auto name = "  " + s.allocator();
  if (row.rounds == 0) return fmt::format("  {:<22}  failed: {}\n", name, row.error.value_or("no figures"));
  const auto ratio = s.ratio ? fmt::format("{:.2f}", s.ratio->median) : s.is_reference() ? "1" : "-";
  if (cost_of(row).counted)
    return fmt::format("  {:<22}{:>14}{:>8}\n", name, cell(row, &run_result::instructions_per_request, grouped), ratio);
  const auto& speed = row[&run_result::requests_per_s];
  const auto range = s.ratio && s.ratio->samples > 1 ? fmt::format("{:.2f} to {:.2f}", s.ratio->min, s.ratio->max) : "";
  return fmt::format("  {:<22}{:>10}{:>7}{:>14}{:>12}{:>8}{:>9}{:>9}{:>10}\n", name,
                     cell(row, &run_result::server_cpu_us_per_request, micros), ratio, range,
                     cell(row, &run_result::requests_per_s, grouped), speed ? percent(speed->spread()) : "-",
                     cell(row, &run_result::p50_us, micros), cell(row, &run_result::p99_us, micros),
                     cell(row, &run_result::server_rss_bytes, mebibytes)) +
         remarks(row);
}

std::string sentence(const block& b) {
  const auto cost = cost_of(*b.all.front().row);
  std::string out;
  std::vector<std::string> level;
  for (const standing& s : b.all) {
    if (!s.ratio) continue;
    if (s.differs(cost.counted))
      out += fmt::format("{}{} needs {}", out.empty() ? "" : "; ", s.allocator(),
                         ratio_text(*s.ratio, cost.word, own_allocator));
    else
      level.push_back(s.allocator());
  }
  if (!level.empty()) {
    const bool few = b.all.back().ratio && b.all.back().ratio->samples < enough_rounds;
    level.emplace_back(own_allocator);
    out += fmt::format("{}{} {}", out.empty() ? "" : "; ", joined(level),
                       cost.counted ? "need as many instructions"
                       : few        ? "cannot be told apart by CPU in so few rounds"
                                    : "cannot be told apart by CPU");
  }
  return out.empty() ? b.model + ": nothing to compare." : b.model + ": " + out + ".";
}

}  // namespace

std::string allocators_table(const comparison& c) {
  const auto summary = summarise(c.results);
  const auto blocks = blocks_of(c, summary);
  std::string out;
  bool timed = false;
  for (const auto& name : workload_names(summary)) {
    std::string sentences;
    for (const block& b : blocks) {
      if (b.workload != name) continue;
      if (sentences.empty()) out += title_line(*b.all.front().row) + "\n";
      out += heading(b);
      for (const standing& s : b.all) {
        out += line(s);
        timed = timed || s.row->first.requests_per_s;
      }
      sentences += "  -> " + sentence(b) + "\n";
    }
    out += sentences + "\n";
  }
  return timed ? out + noise_sentence(summary) + "\n" : out;
}

json::object compose_allocators(const comparison& c) {
  const auto summary = summarise(c.results);
  json::array ratios, verdicts;
  for (const block& b : blocks_of(c, summary)) {
    verdicts.push_back(json::object{{"workload", b.workload}, {"model", b.model}, {"sentence", sentence(b)}});
    for (const standing& s : b.all) {
      if (!s.ratio) continue;
      ratios.push_back(ratio_json(
          {{"workload", b.workload}, {"model", b.model}, {"allocator", s.allocator()}, {"reference", own_allocator}},
          cost_of(*s.row).key, *s.ratio));
    }
  }
  auto out = compose_figures(c);
  out["ratios"] = std::move(ratios);
  out["verdicts"] = std::move(verdicts);
  return out;
}

}  // namespace quintet::bench
