// SPDX-License-Identifier: BSL-1.0
// forecast_command.cpp: `quintet-bench forecast`: its options, then probes, runs, table and JSON.
#include <fmt/format.h>

#include <array>
#include <memory>

#include "command_line.hpp"
#include "commands.hpp"
#include "compare/conclusion.hpp"
#include "compare/measuring_options.hpp"
#include "forecast/forecast_report.hpp"
#include "forecast/probes.hpp"

namespace quintet::bench {
namespace forecasting {
namespace {

constexpr unsigned most_cores = 256, most_connections = 20'000;

constexpr auto* footer =
    "Measures costs here, on two CPUs, and simulates N cores with them. Prints how far the simulation is off in runs\n"
    "that were measured and not used for it. Everything else is a forecast, and is marked as one.\n"
    "Numbers that two CPUs cannot show are assumed, and can be set: --assume lines=10,away=200. The names are lines,\n"
    "spread, slice, spin-share, accept-locked and away; the list of costs explains them.\n"
    "Examples:\n"
    "  quintet-bench forecast --json forecast.json\n"
    "  quintet-bench forecast --cores 1,4,16,64 --connections 5000 --handler 50us --assume lines=10";

constexpr usual_runs default_runs{
    .rounds = 5, .duration = std::chrono::milliseconds(400), .warm_up = std::chrono::milliseconds(100)};
constexpr usual_runs quick_runs{
    .rounds = 2, .duration = std::chrono::milliseconds(150), .warm_up = std::chrono::milliseconds(50)};

struct assumption {
  std::string_view name;
  double value;
};

struct chosen {
  question asked;
  std::vector<assumption> assumed;
  std::chrono::nanoseconds patience{0};
  measuring_options measuring;
};

struct assumable {
  std::string_view name;
  double& (*field)(machine_costs&, question&);
  double most;
};
constexpr std::array assumables{
    assumable{"lines", [](machine_costs& c, question&) -> double& { return c.lines; }, 1000},
    assumable{"spread", [](machine_costs& c, question&) -> double& { return c.spread; }, 1},
    assumable{"slice", [](machine_costs& c, question&) -> double& { return c.slice; }, 1e6},
    assumable{"spin-share", [](machine_costs& c, question&) -> double& { return c.spin_share; }, 100},
    assumable{"accept-locked", [](machine_costs& c, question&) -> double& { return c.accept_locked; }, 100},
    assumable{"away", [](machine_costs&, question& q) -> double& { return q.away; }, 1e6}};

const assumable& find_assumable(std::string_view name) {
  std::string allowed;
  for (const assumable& a : assumables) {
    if (a.name == name) return a;
    allowed += (allowed.empty() ? "" : ", ") + std::string(a.name);
  }
  throw usage_error(fmt::format("\"{}\" is not an assumption; it must be one of: {}", name, allowed));
}

std::vector<assumption> parse_assumptions(const std::string& text) {
  std::vector<assumption> out;
  for (const auto part : split(text)) {
    const auto equals = part.find('=');
    const assumable& what = find_assumable(part.substr(0, equals));
    const std::string number(equals == part.npos ? "" : part.substr(equals + 1));
    char* end = nullptr;
    const double value = std::strtod(number.c_str(), &end);
    if (number.empty() || *end != '\0' || !(value >= 0 && value <= what.most))
      throw usage_error(
          fmt::format("\"{}\" is not {}=NUMBER, with a number from 0 to {:.0f}", part, what.name, what.most));
    out.push_back({what.name, value});
  }
  return out;
}

std::vector<unsigned> parse_cores(const std::string& text) {
  std::vector<unsigned> out;
  for (const auto part : split(text)) out.push_back(static_cast<unsigned>(parse_number(part, 1, most_cores)));
  return out;
}

double parse_handler(const std::string& text) {
  const auto us = std::chrono::duration<double, std::micro>(parse_duration(text)).count();
  if (us < 1 || us > 50'000)
    throw usage_error(fmt::format("\"{}\" is out of range; it must be from 1us to 50ms", text));
  return us;
}

int run_command(compare_settings s, const chosen& c) {
  const auto cpus = allowed_cpus();
  if (cpus.size() < 2) throw std::runtime_error("measuring costs takes two CPUs, and this process may use only one");
  machine_costs costs;
  question asked = c.asked;
  for (const auto& [name, value] : c.assumed) find_assumable(name).field(costs, asked) = value;
  quiet_moments moments(c.patience);
  moments.wait();
  measure_probes(costs, cpus[0], cpus[1], std::chrono::milliseconds(s.quick ? 20 : 100));
  auto seen = observe(s, moments);
  seen.runs.found.command = "forecast";
  auto f = conclude_forecast(asked, std::move(costs), std::move(seen));
  f.seen.runs.interrupted = f.interrupted;
  f.seen.runs.found.settings["interrupted"] = f.interrupted;
  return conclude(s, f.seen.runs,
                  {[&](const comparison&) { return forecast_table(f); },
                   [&](const comparison&) { return compose_forecast(f); },
                   {}});
}

}  // namespace
}  // namespace forecasting

void add_forecast(CLI::App& app) {
  using namespace forecasting;
  auto* sub = app.add_subcommand("forecast", "Forecasts more cores: costs are measured here, the rest is simulated");
  const auto s = std::make_shared<compare_settings>();
  const auto c = std::make_shared<chosen>();
  sub->add_flag("--quick", s->quick, "Short runs, whose errors are noise");
  add_parsed(*sub, "--cores", c->asked.cores, parse_cores,
             "Comma-separated numbers of cores (default: 1,2,4,8,16,24,32)");
  add_parsed(*sub, "--connections", c->asked.connections, number_in<unsigned>(1, most_connections),
             "Concurrent connections (default: 1000)");
  add_parsed(*sub, "--handler", c->asked.handler, parse_handler,
             "Time that a handler computes for a request, besides the echo (default: 200us)");
  add_parsed(*sub, "--assume", c->assumed, parse_assumptions, "Set assumed numbers, see below");
  add_parsed(*sub, "--patience", c->patience, positive_duration,
             "Wait at most this long in all for other programs to be idle, and repeat runs that they disturbed "
             "(default: do not wait)");
  add_measuring_options(*sub, c->measuring, *s, default_runs, quick_runs);
  sub->footer(footer);
  sub->callback([s, c] {
    complete_measuring(*s, c->measuring, default_runs, quick_runs);
    if (const int status = run_command(*s, *c)) throw CLI::RuntimeError(status);
  });
}

}  // namespace quintet::bench
