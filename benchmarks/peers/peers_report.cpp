// SPDX-License-Identifier: BSL-1.0
// peers_report.cpp: models and peers compared with a reference: table, ratios, verdicts.
#include "peers/peers_report.hpp"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <vector>

#include "report/ratios.hpp"
#include "report/table.hpp"
#include "report/text.hpp"
#include "report/verdict.hpp"

namespace quintet::bench {
namespace json = boost::json;

namespace {

// A server compared with its workload's reference.
struct standing {
  const combination* row;
  std::optional<sample_summary> ratio;  // of CPU time, or of instructions; nullopt for the reference itself
};

std::vector<standing> standings(const comparison& c, const std::vector<combination>& summary,
                                std::string_view workload) {
  std::vector<standing> out;
  for (const auto& row : summary) {
    if (row.first.workload != workload) continue;
    out.push_back({&row, std::nullopt});
    if (row.first.peer == std::string(reference_in(workload))) continue;
    const auto label = row.label();
    out.back().ratio = paired_ratio(
        c.results, workload, cost_of(row).field, [&](const run_result& r) { return label_of(r) == label; },
        [&](const run_result& r) { return r.peer == std::string(reference_in(workload)); });
  }
  return out;
}

std::string hundredths(double ratio) { return fmt::format("{:.2f}", ratio); }

std::string line(const standing& s) {
  const auto& row = *s.row;
  if (row.rounds == 0) return fmt::format("  {:<34}  failed: {}\n", row.label(), row.error.value_or("no figures"));
  const auto ratio = s.ratio ? hundredths(s.ratio->median) : "1";
  if (cost_of(row).counted) {
    return fmt::format("  {:<34}{:>14}{:>8}\n", row.label(), cell(row, &run_result::instructions_per_request, grouped),
                       ratio);
  }
  const auto& speed = row[&run_result::requests_per_s];
  const auto range = s.ratio && s.ratio->samples > 1 ? fmt::format("{:.2f} to {:.2f}", s.ratio->min, s.ratio->max) : "";
  return fmt::format("  {:<34}{:>10}{:>7}{:>14}{:>10}{:>12}{:>8}{:>9}{:>9}\n", row.label(),
                     cell(row, &run_result::server_cpu_us_per_request, micros), ratio, range,
                     cell(row, &run_result::syscalls_per_request, significant),
                     cell(row, &run_result::requests_per_s, grouped), speed ? percent(speed->spread()) : "-",
                     cell(row, &run_result::p50_us, micros), cell(row, &run_result::p99_us, micros)) +
         remarks(row);
}

// Returns memory per connection, if there are enough connections to measure it.
std::string memory_lines(const std::vector<standing>& all) {
  std::string out;
  for (const auto& s : all) {
    const auto& each = (*s.row)[&run_result::bytes_per_connection];
    if (!each) continue;
    if (out.empty())
      out = fmt::format("  the server's memory for each of {} connections (RSS; the kernel's own comes on top)\n",
                        grouped(s.row->first.connections.value_or(0)));
    out += fmt::format("  {:<34}{:>8} B   {}\n", s.row->label(), grouped(each->median), forecast(each->median));
  }
  return out;
}

std::string heading(const combination& first) {
  if (cost_of(first).counted) return fmt::format("  {:<34}{:>14}{:>8}\n", "", "instructions", "ratio");
  return fmt::format("  {:<34}{:>10}{:>7}{:>14}{:>10}{:>12}{:>8}{:>9}{:>9}\n", "", "CPU/req", "ratio", "its rounds",
                     "syscalls", "requests/s", "spread", "p50", "p99");
}

std::string reference_label(std::string_view workload) {
  return contender{.peer = std::string(reference_in(workload))}.label();
}

// Returns "Of the peers libev needs least (0.98 times), libuv most (1.58 times)."
std::string peers_sentence(const std::vector<standing>& all) {
  const standing *least = nullptr, *most = nullptr;
  for (const auto& s : all) {
    if (!s.row->is_peer() || !s.ratio) continue;
    if (!least || s.ratio->median < least->ratio->median) least = &s;
    if (!most || s.ratio->median > most->ratio->median) most = &s;
  }
  if (!least || least == most)
    return least ? fmt::format(" {}: {:.2f} times.", least->row->label(), least->ratio->median) : "";
  return fmt::format(" Of the other peers {} needs least ({:.2f} times), {} most ({:.2f} times).", least->row->label(),
                     least->ratio->median, most->row->label(), most->ratio->median);
}

std::string verdict_on(const std::vector<standing>& all, std::string_view workload) {
  for (const auto& s : all) {
    if (s.row->is_peer() || !s.ratio) continue;
    return s.row->label() + " needs " + ratio_text(*s.ratio, cost_of(*s.row).word, reference_label(workload)) + "." +
           peers_sentence(all);
  }
  return "Nothing to say: one of ours or " + reference_label(workload) + " gave no figures.";
}

}  // namespace

std::string_view reference_in(std::string_view workload) { return workload.starts_with("kv") ? "redis" : "epoll"; }

std::string peers_table(const comparison& c) {
  const auto summary = summarise(c.results);
  bool timed = false;
  std::string out;
  for (const auto& name : workload_names(summary)) {
    const auto all = standings(c, summary, name);
    out += title_line(*all.front().row) + "\n" + heading(*all.front().row);
    for (const auto& s : all) {
      out += line(s);
      timed = timed || s.row->first.requests_per_s;
    }
    out += memory_lines(all) + "  -> " + verdict_on(all, name) + "\n\n";
  }
  return timed ? out + noise_sentence(summary) + "\n" : out;
}

json::object compose_peers(const comparison& c) {
  const auto summary = summarise(c.results);
  json::array ratios, verdicts;
  for (const auto& name : workload_names(summary)) {
    const auto all = standings(c, summary, name);
    verdicts.push_back(json::object{{"workload", name}, {"sentence", verdict_on(all, name)}});
    for (const auto& s : all) {
      if (!s.ratio) continue;
      const auto& who = s.row->first;
      ratios.push_back(ratio_json({{"workload", name},
                                   {"model", text_or_null(who.model)},
                                   {"engine", text_or_null(who.engine)},
                                   {"handler", text_or_null(who.handler)},
                                   {"peer", text_or_null(who.peer)},
                                   {"reference", reference_in(name)}},
                                  cost_of(*s.row).key, *s.ratio));
    }
  }
  auto out = compose_figures(c);
  out["ratios"] = std::move(ratios);
  out["verdicts"] = std::move(verdicts);
  return out;
}

}  // namespace quintet::bench
