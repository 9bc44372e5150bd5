// SPDX-License-Identifier: BSL-1.0
// table.cpp: the comparison as text for a terminal.
#include "report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "bottleneck.hpp"
#include "report/advice.hpp"
#include "report/summary.hpp"
#include "report/text.hpp"
#include "report/verdict.hpp"

namespace quintet::bench {

namespace {

using formatter = std::string (*)(double);

struct column {
  std::string_view title;
  std::size_t width;
  measurement run_result::* field;
  formatter format;
};

constexpr column usual_columns[] = {
    {"requests/s", 11, &run_result::requests_per_s, grouped},
    {"p50", 9, &run_result::p50_us, micros},
    {"p99", 9, &run_result::p99_us, micros},
    {"p99.9", 9, &run_result::p999_us, micros},
    {"CPU/req", 10, &run_result::server_cpu_us_per_request, micros},
    {"syscalls", 9, &run_result::syscalls_per_request, significant},
    {"switches", 9, &run_result::context_switches_per_request, significant},
    {"threads", 8, &run_result::server_threads, grouped},
    {"memory", 9, &run_result::server_rss_bytes, mebibytes},
};
constexpr column heartbeat_columns[] = {
    {"beat p50", 9, &run_result::heartbeat_p50_us, micros},
    {"beat p99", 9, &run_result::heartbeat_p99_us, micros},
    {"beat max", 9, &run_result::heartbeat_max_us, micros},
};

std::vector<column> columns_for(const std::vector<const combination*>& rows) {
  std::vector<column> out(std::begin(usual_columns), std::end(usual_columns));
  const auto has_heartbeat = [](const combination* c) { return (*c)[&run_result::heartbeat_p99_us].has_value(); };
  for (const auto* row : rows) {
    if (!has_heartbeat(row)) continue;
    // Heartbeats replace counters that are irrelevant for this workload.
    out.erase(out.begin() + 5, out.end());
    out.insert(out.end(), std::begin(heartbeat_columns), std::end(heartbeat_columns));
    break;
  }
  return out;
}

void append_rows(std::string& out, const std::vector<const combination*>& rows) {
  const auto columns = columns_for(rows);
  out += fmt::format("  {:<23}", "");
  for (const auto& c : columns) {
    out += fmt::format("{:>{}}", c.title, c.width);
    if (c.field == &run_result::requests_per_s) out += fmt::format("{:>8}", "spread");
  }
  out += "\n";
  for (const auto* row : rows) {
    out += fmt::format("  {:<23}", row->label());
    if (row->rounds == 0) {
      out += fmt::format("  failed: {}\n", row->error.value_or("no figures"));
      continue;
    }
    for (const auto& c : columns) {
      out += fmt::format("{:>{}}", cell(*row, c.field, c.format), c.width);
      const auto& speed = (*row)[&run_result::requests_per_s];
      if (c.field == &run_result::requests_per_s) out += fmt::format("{:>8}", speed ? percent(speed->spread()) : "-");
    }
    out += "\n";
    out += remarks(*row);
  }
}

// Returns "Bottleneck: server CPU (single_reactor and reactor_pool); none (loop_per_thread)."
std::string bottleneck_line(const std::vector<const combination*>& rows) {
  std::vector<std::pair<std::string_view, std::vector<std::string>>> groups;
  for (const auto* row : rows) {
    const auto name = row->bottleneck();
    if (!name) continue;
    const auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == *name; });
    if (found == groups.end())
      groups.push_back({*name, {row->label()}});
    else
      found->second.push_back(row->label());
  }
  std::string out;
  for (const auto& [name, labels] : groups)
    out += fmt::format("{}{} ({})", out.empty() ? "" : "; ", bottleneck_title(name), joined(labels));
  return out.empty() ? out : "  -> Bottleneck: " + out + ".\n";
}

// Returns the range of packets and bytes over the servers.
std::string network_line(const std::vector<const combination*>& rows) {
  std::vector<double> packets, bytes, each;
  for (const auto* row : rows) {
    const auto& count = (*row)[&run_result::net_packets_per_request];
    const auto& size = (*row)[&run_result::net_bytes_per_request];
    if (!count || !size || count->median <= 0) continue;
    packets.push_back(count->median);
    bytes.push_back(size->median);
    each.push_back(size->median / count->median);
  }
  const auto range = [](const std::vector<double>& values) {
    const auto all = summarise_samples(values);
    const auto low = significant(all->min), high = significant(all->max);
    return low == high ? low : low + " to " + high;
  };
  if (packets.empty()) return "";
  return fmt::format("  -> Network: {} packets and {} B for a request, {} B a packet, whoever sent them.\n",
                     range(packets), range(bytes), range(each));
}

}  // namespace

std::string shape_text(const run_result& r) {
  auto out = r.workload;
  if (r.connections && r.message_bytes) {
    out += fmt::format(": {} connection{} x {} B", grouped(*r.connections), *r.connections == 1 ? "" : "s",
                       grouped(*r.message_bytes));
  }
  if (r.pipeline.value_or(1) > 1) out += fmt::format(", {} in flight each", grouped(*r.pipeline));
  return out;
}

std::string title_line(const combination& c) { return shape_text(c.first) + placement_text(c.first); }

std::string placement_text(const run_result& r) {
  if (r.server_cpus.empty()) return "";
  return fmt::format(" (server on CPU {}, client on CPU {})", r.server_cpus, r.client_cpus);
}

std::string cell(const combination& row, measurement run_result::* field, std::string (*format)(double)) {
  const auto& value = row[field];
  return value ? format(value->median) : "-";
}

std::string failure_remarks(const combination& row) {
  std::string out;
  if (row.failures > 0) {
    out += fmt::format("    {} of {} runs failed: {}\n", row.failures, row.rounds + row.failures,
                       row.error.value_or("no figures"));
  }
  const auto& lost = row[&run_result::failed];
  if (lost && lost->max > 0)
    out += fmt::format("    up to {} requests a run were not answered right\n", grouped(lost->max));
  return out;
}

std::string remarks(const combination& row) {
  return failure_remarks(row) +
         (row.client_bound() ? "    the client was the bottleneck: the server could do more\n" : "");
}

std::string console_table(const comparison& c) {
  const auto summary = summarise(c.results);
  const auto ratios = peer_ratios(c.results);
  std::string out;
  for (const auto& name : workload_names(summary)) {
    std::vector<const combination*> rows;
    for (const auto& row : summary) {
      if (row.first.workload == name) rows.push_back(&row);
    }
    out += title_line(*rows.front()) + "\n";
    append_rows(out, rows);
    const auto v = compute_verdict(summary, name);
    out += "  -> " + v.sentence + "\n";
    if (!v.also.empty()) out += "  -> " + v.also + "\n";
    if (!v.caution.empty()) out += "  -> " + v.caution + "\n";
    out += bottleneck_line(rows) + network_line(rows);
    for (const auto& ratio : ratios) {
      if (ratio.workload == name) out += "  -> " + ratio.sentence() + "\n";
    }
    out += "\n";
  }
  for (const auto& a : advise(summary)) {
    if (!a.workload) continue;
    out += fmt::format("For a {} handler: {}.{}\n", a.handler, a.model.value_or("too noisy to tell"),
                       a.model && !a.as_good.empty() ? " As good: " + joined(a.as_good) + "." : "");
  }
  return out + noise_sentence(summary) + "\n";
}

}  // namespace quintet::bench
