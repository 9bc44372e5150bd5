// SPDX-License-Identifier: BSL-1.0
// study_table.cpp: a study as text for a terminal.
#include "study/study_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "report/statistics.hpp"
#include "report/table.hpp"
#include "report/text.hpp"
#include "study/figures.hpp"

namespace quintet::bench {
namespace {

constexpr std::size_t title_width = 28, server_width = 22;

std::optional<sample_summary> median_of(const subject& s, const figure& f) {
  const auto found = s.figures.find(f.key);
  return found == s.figures.end() ? std::nullopt : summarise_samples(found->second);
}

std::string figure_rows(std::span<const subject> all) {
  std::string out = fmt::format("  {:<{}}", "for a request", title_width);
  for (const subject& s : all) out += fmt::format("{:>{}}", s.server, server_width);
  out += "  source\n";
  for (const figure& f : study_figures()) {
    const bool any = std::any_of(all.begin(), all.end(), [&](const subject& s) { return median_of(s, f).has_value(); });
    if (!any) continue;  // a line below says why
    out += fmt::format("  {:<{}}", f.title, title_width);
    for (const subject& s : all) {
      const auto value = median_of(s, f);
      out += fmt::format("{:>{}}", value ? f.format(value->median * f.times) : "failed", server_width);
    }
    out += fmt::format("  {}\n", source_of(f));
  }
  return out;
}

// Returns the round with the median miss rate.
std::optional<cache_reading> middle(const subject& s) {
  auto sorted = s.caches;
  std::sort(sorted.begin(), sorted.end(),
            [](const cache_reading& a, const cache_reading& b) { return a.rate() < b.rate(); });
  return sorted.empty() ? std::nullopt : std::optional(sorted[sorted.size() / 2]);
}

std::string cache_row(std::string_view name, const cache_reading& c, std::string_view source, double first_rate) {
  const auto time = c.seconds > 0 ? fmt::format("{:.2f}", c.seconds) : std::string("-");
  const auto each = [&](double count) { return c.requests > 0 ? significant(count / c.requests) : std::string("-"); };
  return fmt::format("  {:<30}{:>17}{:>16}{:>10.3f} %{:>9}{:>11}{:>13}{:>+11.2f}  {}\n", name, grouped(c.references),
                     grouped(c.misses), c.rate() * 100, time, each(c.references), each(c.misses),
                     (c.rate() - first_rate) * 100, source);
}

std::string cache_rows(std::span<const subject> all, std::span<const subject> before) {
  std::string rows;
  std::optional<double> first;
  const auto add = [&](const subject& s, std::string_view suffix) {
    const auto reading = middle(s);
    if (!reading) return;
    if (!first) first = reading->rate();
    rows += cache_row(s.server + std::string(suffix), *reading, s.cache_source, *first);
  };
  for (const subject& s : before) add(s, ", before");
  for (const subject& s : all) add(s, "");
  if (rows.empty()) return "";
  constexpr cache_reading published_before{31'807'891'996, 1'515'770'600, 126.84},
      published_after{35'495'507'358, 1'344'188'577, 99.50};
  rows += cache_row("thread for each connection", published_before, "published: MongoDB", published_before.rate());
  rows += cache_row("reactors on Asio", published_after, "published: MongoDB", published_before.rate());
  return fmt::format("\n  {:<30}{:>17}{:>16}{:>12}{:>9}{:>11}{:>13}{:>11}  source\n", "last-level cache", "references",
                     "misses", "rate", "seconds", "refs/req", "misses/req", "diff (pp)") +
         rows;
}

std::string function_rows(const subject& s) {
  if (s.functions.empty()) return "";
  std::string out =
      fmt::format("\n  {}: where its CPU time goes (perf record -e cpu-clock, in a run of its own)\n", s.server);
  for (const hot_function& f : s.functions)
    out += fmt::format("  {:>7.1f} %  {:<70.70}{}\n", f.share * 100, f.symbol, f.in_kernel ? "kernel" : f.object);
  return out;
}

std::string lock_rows(const subject& s) {
  if (s.locks.empty()) return "";
  std::string out = fmt::format("\n  {}: the kernel's locks it waited for (perf lock)\n", s.server);
  for (const lock_wait& l : s.locks)
    out += fmt::format("  {:>9} waits{:>12}  {:<10}{}\n", grouped(l.waits), micros(l.microseconds), l.type, l.caller);
  return out;
}

std::string change_rows(const subject& now, const subject& then) {
  auto out = fmt::format("\n  {:<{}}{:>14}{:>14}{:>9}{:>20}\n", now.server, title_width + 12, "before", "after",
                         "ratio", "interval");
  for (const figure& f : study_figures()) {
    const auto after = median_of(now, f), before = median_of(then, f);
    if (!after || !before) continue;
    const auto ratio = ratio_of(now.figures.find(f.key)->second, then.figures.find(f.key)->second);
    const auto text = ratio ? fmt::format("{:>9.3f}{:>9.3f} to {:.3f} ({})", ratio->ratio, ratio->low, ratio->high,
                                          percent(ratio->confidence))
                            : fmt::format("{:>9}", "-");
    out += fmt::format("  {:<{}}{:>14}{:>14}{}\n", f.title, title_width + 10, f.format(before->median * f.times),
                       f.format(after->median * f.times), text);
  }
  return out;
}

}  // namespace

std::string study_table(const study_outcome& o, std::span<const subject> before) {
  std::string out;
  const auto& results = o.compared.found.results;
  if (!results.empty()) out += shape_text(results.front()) + placement_text(results.front()) + "\n";
  out += figure_rows(o.subjects);
  out += cache_rows(o.subjects, before);
  for (const subject& then : before) {
    const auto now = std::find_if(o.subjects.begin(), o.subjects.end(), [&](const subject& s) {
      return s.server == then.server && s.workload == then.workload;
    });
    if (now != o.subjects.end()) out += change_rows(*now, then);
  }
  for (const subject& s : o.subjects) out += function_rows(s);
  for (const subject& s : o.subjects) out += lock_rows(s);
  if (!o.not_measured.empty()) out += "\nNot measured:\n";
  for (const auto& line : o.not_measured) out += "  " + line + "\n";
  return out;
}

}  // namespace quintet::bench
