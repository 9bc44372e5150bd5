// SPDX-License-Identifier: BSL-1.0
// cost_lines.cpp: lists every number of the simulation with its source.
#include <fmt/format.h>

#include "forecast/forecast_report.hpp"
#include "report/models.hpp"

namespace quintet::bench::forecasting {
namespace {

constexpr auto *probe = "measured here, by itself", *fitted = "fitted to runs measured here", *assumed = "assumed";

void add_model(std::vector<cost_line>& to, unsigned model, const model_costs& m) {
  const auto add = [&](const char* what, measurement value, const char* unit = "us") {
    to.push_back({what, model, value, unit, fitted});
  };
  const bool pooled = model == 3 || model == 5;
  const auto of_pool = [&](bool there, double value) { return there ? measurement(value) : std::nullopt; };
  add("a request, 100 connections for a core (with a pool: the loop's part)", m.loop.at_few);
  add("a request, 1,000 connections for a core (with a pool: the loop's part)", m.loop.at_many);
  add("the client's part, 100 connections", m.client.at_few);
  add("the client's part, 1,000 connections", m.client.at_many);
  add("more, when the thread was woken on an idle core", m.resume);
  add("more, when the client was", m.client_resume);
  add("waking through a socket: more latency than by itself", m.wake_extra);
  add("a request whose handler computes, beside the handler (with a pool: with the handoff)", m.expensive_loop);
  add("the worker's part of a cheap request", of_pool(model == 3, m.worker));
  add("a handoff there and back, of cheap requests together", of_pool(model == 3, m.handoff));
  add("the worker's part of a request whose handler computes, beside the handler", of_pool(pooled, m.expensive_worker));
}

}  // namespace

std::vector<cost_line> cost_lines(const findings& f) {
  const machine_costs& c = f.costs;
  std::vector<cost_line> out;
  const auto add = [&](std::string name, measurement value, const char* unit, const char* source) {
    out.push_back({std::move(name), 0, value, unit, source});
  };
  for (const auto& p : c.wake.points()) {
    const auto who = fmt::format("waking a thread whose core was idle for {:.0f} us", p.idle);
    add(who + ": CPU", p.cost.cpu, "us", probe);
    add(who + ": until it runs", p.cost.latency, "us", probe);
  }
  add("CPU of a handler for each microsecond it is to compute", c.work_factor, "us", probe);
  add("a core goes on with another thread", c.switch_cost, "us", probe);
  add("asking the kernel for events", c.turn, "us", probe);
  add("a mutex that nobody else wants", c.lock, "us", probe);
  add("a cache line from one core to another", c.line, "us", probe);
  add("accept()", c.accept, "us", probe);
  add("a short connection: CPU of the server", f.seen.short_cpu, "us", "measured here, by runs");
  add("lines=: cache lines of a batch that crosses cores, each way", c.lines, "", assumed);
  add("spread=: by how much a request's cost varies in both directions", c.spread, "", assumed);
  add("slice=: time slice of a thread", c.slice, "us", assumed);
  add("spin-share=: cache lines for each who waits, when a spin lock passes on", c.spin_share, "", assumed);
  add("accept-locked=: times accept() that an old kernel's one queue is locked for", c.accept_locked, "", assumed);
  add("away=: from a reply until the next request has come", f.asked.away, "us", assumed);
  for (unsigned i = 0; i < c.models.size(); ++i) {
    if (c.models[i].known) add_model(out, i + 1, c.models[i]);
  }
  return out;
}

}  // namespace quintet::bench::forecasting
