// SPDX-License-Identifier: BSL-1.0
// rows.cpp: the figures of a sweep as lines of text, each with a bar.
#include "sweep/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "report/table.hpp"
#include "report/text.hpp"
#include "sweep/shape.hpp"

namespace quintet::bench {
namespace {

constexpr double bar_width = 24;

// Values shared by all lines.
struct layout {
  const axis& a;
  bool with_published;
  double most;  // has the longest bar
};

bool has_megabytes(const axis& a) { return a.figure == &run_result::mb_per_s; }

// Returns the settings shared by all points: "echo: 8 B, 1 in flight (server on CPU 1, client on CPU 0)".
std::string heading(const axis& a, const run_result& r) {
  auto out = a.field == &run_result::handler_us ? r.workload.substr(0, r.workload.find(':')) : r.workload;
  const char* separator = ": ";
  const auto add = [&](measurement run_result::* field, std::string_view one, std::string_view more) {
    if (field == a.field || !(r.*field)) return;
    out += fmt::format("{}{} {}", separator, grouped(*(r.*field)), *(r.*field) == 1 ? one : more);
    separator = ", ";
  };
  add(&run_result::connections, "connection", "connections");
  add(&run_result::message_bytes, "B", "B");
  add(&run_result::pipeline, "in flight for each", "in flight for each");
  return out + placement_text(r);
}

std::string titles(const layout& l) {
  const axis& a = l.a;
  auto out = fmt::format("  {:>12}{:>13} {:>7}", a.column, "requests/s", "spread");
  if (has_megabytes(a)) out += fmt::format("{:>8}", "MB/s");
  out += fmt::format("{:>10}{:>9}{:>9}{:>8}", "CPU/req", "p50", "p99", "failed");
  if (l.with_published) out += fmt::format("{:>11}", "published");
  return out + "\n";
}

std::string line(const layout& l, const combination& row) {
  const axis& a = l.a;
  const auto value = (row.first.*a.field).value_or(0);
  auto out = fmt::format("  {:>12}", a.text(value));
  if (row.rounds == 0) return out + fmt::format("  failed: {}\n", row.error.value_or("no figures"));
  const auto& speed = row[&run_result::requests_per_s];
  const auto& lost = row[&run_result::failed];
  out += fmt::format("{:>13}{} {:>6}", cell(row, &run_result::requests_per_s, grouped), row.client_bound() ? "*" : " ",
                     speed ? percent(speed->spread()) : "-");
  if (has_megabytes(a)) out += fmt::format("{:>8}", cell(row, &run_result::mb_per_s, significant));
  out += fmt::format("{:>10}{:>9}{:>9}{:>8}", cell(row, &run_result::server_cpu_us_per_request, micros),
                     cell(row, &run_result::p50_us, micros), cell(row, &run_result::p99_us, micros),
                     lost ? grouped(lost->max) : "-");
  if (l.with_published) {
    const auto theirs = published_at(value);
    out += fmt::format("{:>11}", theirs ? grouped(*theirs) : "");
  }
  const auto& drawn = row[a.figure];
  return out + "  " + (drawn ? bar(drawn->median, l.most) : "") + "\n" + failure_remarks(row);
}

}  // namespace

std::string bar(double value, double most) {
  if (value <= 0 || most <= 0) return "";
  return std::string(static_cast<std::size_t>(std::max(1.0, std::round(value / most * bar_width))), '#');
}

std::string curve_blocks(const axis& a, std::span<const combination> summary) {
  std::vector<std::string> labels;
  layout l{a, has_published(a.field, summary), 0};
  bool held_back = false;
  for (const auto& row : summary) {
    if (std::find(labels.begin(), labels.end(), row.label()) == labels.end()) labels.push_back(row.label());
    if (const auto& figure = row[a.figure]) l.most = std::max(l.most, figure->median);
    held_back = held_back || row.client_bound();
  }
  std::string out = summary.empty() ? "" : heading(a, summary.front().first) + "\n";
  for (const auto& label : labels) {
    out += "\n" + label + "\n" + titles(l);
    for (const auto& row : summary) {
      if (row.label() == label) out += line(l, row);
    }
  }
  out += "\n";
  if (held_back) out += "  * the client was the bottleneck: the server could do more\n";
  if (l.with_published)
    out += "  published: requests/s of one epoll loop, hand-written, on another machine (4 cores, i5-3470)\n";
  return out;
}

}  // namespace quintet::bench
