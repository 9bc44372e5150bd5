// SPDX-License-Identifier: BSL-1.0
// forecast_report.cpp: costs, errors, forecast and shapes as text for a terminal.
#include "forecast/forecast_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/models.hpp"
#include "report/summary.hpp"
#include "report/text.hpp"
#include "report/verdict.hpp"

namespace quintet::bench::forecasting {
namespace {

std::string signed_percent(const std::optional<double>& fraction) {
  return fraction ? fmt::format("{:+.0f} %", *fraction * 100) : "-";
}

std::string work_text(double handler) { return handler > 0 ? "cpu:" + micros(handler) : "echo"; }

std::string run_title(const observation& o) {
  return fmt::format("{:<22}{:<11}{:>5} {}", model_names[o.model - 1], o.workload, o.connections,
                     o.shared ? "all CPUs, shared" : "one CPU") +
         (o.disturbed ? " *" : "");
}

// Returns the costs, with the models side by side.
std::string cost_block(const findings& f) {
  constexpr auto* line = "  {:<74}{:>9} {:<3} {}\n";
  std::string machine, models = fmt::format("  {:<74}", "");
  std::vector<std::string> names;
  std::map<std::string, std::string> cells;
  for (const cost_line& c : cost_lines(f)) {
    const auto value = c.value ? significant(*c.value) : "-";
    if (c.model == 0) {
      machine += fmt::format(fmt::runtime(line), c.name, value, c.unit, c.source);
      continue;
    }
    if (!cells.contains(c.name)) names.push_back(c.name);
    if (c.name == names.front()) models += fmt::format("{:>23}", model_names[c.model - 1]);
    cells[c.name] += fmt::format("{:>23}", value);
  }
  auto out = "Costs in microseconds, and where they come from\n" + machine;
  if (names.empty()) return out;
  out += "\nFitted to runs measured here, for each model\n" + models + '\n';
  for (const auto& name : names) out += fmt::format("  {:<74}{}\n", name, cells[name]);
  return out;
}

std::string runs_block(const std::vector<evaluated_run>& runs) {
  constexpr auto* columns = "  {:<56}{:>10}{:>8}{:>11}{:>8}{:>10}{:>11}{:>8}{:>11}{:>11}{:>8}\n";
  auto out = fmt::format(fmt::runtime(columns), "", "requests/s", "spread", "simulated", "error", "p99", "simulated",
                         "error", "CPU/req", "simulated", "error");
  for (const evaluated_run& j : runs) {
    const auto simulated = [&](auto text) { return j.simulated ? text(*j.simulated) : std::string("-"); };
    out += fmt::format(fmt::runtime(columns), run_title(j.run), grouped(j.run.requests_per_s), percent(j.run.spread),
                       simulated([](const sim_outcome& s) { return grouped(s.requests_per_s); }),
                       signed_percent(j.error()), micros(j.run.p99),
                       simulated([](const sim_outcome& s) { return micros(s.p99); }), signed_percent(j.p99_error()),
                       micros(j.run.loop_cpu + j.run.worker_cpu + j.run.client_cpu),
                       simulated([](const sim_outcome& s) { return micros(s.server_cpu() + s.client_cpu); }),
                       signed_percent(j.cpu_error()));
  }
  return out;
}

std::string error_lines(const char* which, const std::vector<evaluated_run>& runs) {
  const auto line = [&](const char* what, std::optional<double> (evaluated_run::*of)() const) {
    const auto all = summarise_errors(runs, of), quiet = summarise_errors(runs, of, true);
    if (!all) return std::string();
    const auto text = [](const error_summary& j) {
      return fmt::format("within {}: {} of {}, median error {}, worst {}", percent(error_summary::bound), j.within,
                         j.runs, percent(j.median), percent(j.worst));
    };
    return fmt::format("  -> {}, {}: {}{}\n", which, what, text(*all),
                       quiet && quiet->runs < all->runs ? "; undisturbed: " + text(*quiet) : "");
  };
  return line("requests/s", &evaluated_run::error) + line("p99", &evaluated_run::p99_error) +
         line("CPU for a request", &evaluated_run::cpu_error);
}

bool any_disturbed(const findings& f) {
  return std::any_of(f.seen.all.begin(), f.seen.all.end(), [](const observation& o) { return o.disturbed; });
}

std::string forecast_block(const findings& f) {
  std::string out;
  for (const double handler : {0.0, f.asked.handler}) {
    out += fmt::format(
        "\nFORECAST, not measured: {}, {} connections, a client that needs none of these cores\n  {:<31}{:<12}",
        work_text(handler), grouped(f.asked.connections), "", "cores");
    for (const unsigned cores : f.asked.cores) out += fmt::format("{:>11}", cores);
    out += '\n';
    for (unsigned model = 1; model <= model_names.size(); ++model) {
      std::string speeds, tails;
      for (const forecast_row& row : f.forecast) {
        if (row.model != model || row.handler != handler) continue;
        speeds += fmt::format("{:>11}", grouped(row.outcome.requests_per_s));
        tails += fmt::format("{:>11}", micros(row.outcome.p99));
      }
      if (speeds.empty()) continue;
      out += fmt::format("  forecast {:<22}{:<12}{}\n  forecast {:<22}{:<12}{}\n", model_names[model - 1], "requests/s",
                         speeds, "", "p99", tails);
    }
  }
  return out;
}

std::string optional_count(const std::optional<double>& value) { return value ? grouped(*value) : "-"; }

std::string shape_block(const shape& s) {
  auto out = fmt::format("\nFORECAST of a shape: {}\n", s.title);
  const bool both = !s.shared.empty();
  out += fmt::format("  {:>20} {:>6}", "threads", "cores");
  if (both) out += fmt::format("{:>20}", s.shared);
  out += fmt::format("{:>22}{:>10}{:>20}\n", s.separate, both ? "ratio" : "of one", "published");
  for (const shape_row& r : s.rows) {
    out += fmt::format("  forecast {:>11} {:>6}", r.threads, r.cores);
    if (both) out += fmt::format("{:>20}", grouped(r.shared));
    const auto published = both && (r.published_shared || r.published_separate)
                               ? optional_count(r.published_shared) + ", " + optional_count(r.published_separate)
                               : optional_count(r.published_separate);
    out += fmt::format("{:>22}{:>10.2f}{:>20}\n", grouped(r.separate),
                       r.separate / (both ? r.shared : s.rows.front().separate), published);
  }
  return out + fmt::format("  -> forecast: {}\n  published: {}\n", s.conclusion, s.published);
}

}  // namespace

std::string forecast_table(const findings& f) {
  std::string out = cost_block(f);
  if (!f.held_out.empty()) {
    out += "\nRuns that nothing was fitted to: measured, and simulated\n" + runs_block(f.held_out);
    out += error_lines("held out", f.held_out);
  }
  if (!f.fitted.empty()) {
    out += "\nRuns that the costs were fitted to (by their CPU for a request, not by their throughput)\n" +
           runs_block(f.fitted);
    out += error_lines("fitted", f.fitted);
  }
  if (any_disturbed(f)) out += "  * other programs had more than 5 % of the CPUs in every round\n";
  if (const auto summary = summarise(f.seen.runs.found.results); !summary.empty())
    out += noise_sentence(summary) + "\n";
  if (!f.forecast.empty()) out += forecast_block(f);
  for (const shape& s : f.shapes) out += shape_block(s);
  return out;
}

}  // namespace quintet::bench::forecasting
