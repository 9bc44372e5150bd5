// SPDX-License-Identifier: BSL-1.0
// forecast_document.cpp: costs, errors, forecast and shapes as JSON.
#include <boost/json/array.hpp>

#include "forecast/forecast_report.hpp"
#include "report/document.hpp"
#include "report/models.hpp"

namespace quintet::bench::forecasting {
namespace json = boost::json;

namespace {

json::value name_of(unsigned model) { return json::value(model_names[model - 1]); }

json::array costs_json(const findings& f) {
  json::array out;
  for (const cost_line& c : cost_lines(f))
    out.push_back(json::object{{"name", c.name},
                               {"model", c.model == 0 ? json::value(nullptr) : name_of(c.model)},
                               {"value", number(c.value)},
                               {"unit", c.unit},
                               {"source", c.source}});
  return out;
}

json::array runs_json(const std::vector<evaluated_run>& runs) {
  json::array out;
  for (const evaluated_run& j : runs) {
    const auto simulated = [&](double sim_outcome::* field) {
      return number(j.simulated ? measurement(*j.simulated.*field) : std::nullopt);
    };
    out.push_back(
        json::object{{"model", name_of(j.run.model)},
                     {"workload", j.run.workload},
                     {"connections", j.run.connections},
                     {"cpus_shared", j.run.shared},
                     {"requests_per_s", number(j.run.requests_per_s)},
                     {"spread", number(j.run.spread)},
                     {"simulated_requests_per_s", simulated(&sim_outcome::requests_per_s)},
                     {"error", number(j.error())},
                     {"p99_us", number(j.run.p99)},
                     {"simulated_p99_us", simulated(&sim_outcome::p99)},
                     {"p99_error", number(j.p99_error())},
                     {"cpu_us", number(j.run.loop_cpu + j.run.worker_cpu + j.run.client_cpu)},
                     {"simulated_cpu_us",
                      j.simulated ? number(j.simulated->server_cpu() + j.simulated->client_cpu) : json::value(nullptr)},
                     {"cpu_error", number(j.cpu_error())}});
  }
  return out;
}

json::value error_summary_json(const std::optional<error_summary>& found) {
  if (!found) return nullptr;
  return json::object{{"runs", found->runs},
                      {"bound", error_summary::bound},
                      {"within", found->within},
                      {"median", number(found->median)},
                      {"worst", number(found->worst)}};
}

json::object error_summaries_json(const std::vector<evaluated_run>& runs) {
  json::object out;
  const auto add = [&](const char* key, std::optional<double> (evaluated_run::*of)() const) {
    out[key] = {{"all", error_summary_json(summarise_errors(runs, of))},
                {"undisturbed", error_summary_json(summarise_errors(runs, of, true))}};
  };
  add("requests_per_s", &evaluated_run::error);
  add("p99_us", &evaluated_run::p99_error);
  add("cpu_us", &evaluated_run::cpu_error);
  return out;
}

json::array forecast_json(const findings& f) {
  json::array out;
  for (const forecast_row& row : f.forecast)
    out.push_back(json::object{{"kind", "forecast"},
                               {"model", name_of(row.model)},
                               {"cores", row.cores},
                               {"connections", f.asked.connections},
                               {"handler_us", number(row.handler)},
                               {"requests_per_s", number(row.outcome.requests_per_s)},
                               {"p50_us", number(row.outcome.p50)},
                               {"p99_us", number(row.outcome.p99)}});
  return out;
}

json::array shapes_json(const findings& f) {
  json::array out;
  for (const shape& s : f.shapes) {
    json::array rows;
    for (const shape_row& r : s.rows)
      rows.push_back(json::object{{"threads", r.threads},
                                  {"cores", r.cores},
                                  {"shared", number(s.shared.empty() ? measurement() : r.shared)},
                                  {"separate", number(r.separate)},
                                  {"published_shared", number(r.published_shared)},
                                  {"published_separate", number(r.published_separate)}});
    out.push_back(json::object{{"kind", "forecast"},
                               {"name", s.name},
                               {"title", s.title},
                               {"conclusion", s.conclusion},
                               {"published", s.published},
                               {"rows", std::move(rows)}});
  }
  return out;
}

}  // namespace

json::object compose_forecast(const findings& f) {
  auto out = compose_figures(f.seen.runs.found);
  out["costs"] = costs_json(f);
  out["fitted"] = runs_json(f.fitted);
  out["held_out"] = runs_json(f.held_out);
  out["errors"] = {{"held_out", error_summaries_json(f.held_out)}, {"fitted", error_summaries_json(f.fitted)}};
  out["forecast"] = forecast_json(f);
  out["shapes"] = shapes_json(f);
  return out;
}

}  // namespace quintet::bench::forecasting
