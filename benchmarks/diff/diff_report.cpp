// SPDX-License-Identifier: BSL-1.0
// diff_report.cpp: a line for each figure of each combination, the other differences, and a count of the verdicts.
#include "diff/diff_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>

#include "diff/surroundings.hpp"
#include "report/table.hpp"
#include "report/text.hpp"

namespace quintet::bench {
namespace json = boost::json;

namespace {

constexpr std::size_t name_width = 34;

std::string member(const json::object& of, std::string_view key) {
  const auto* value = of.if_contains(key);
  const auto* text = value ? value->if_string() : nullptr;
  return text ? std::string(*text) : "not known";
}

std::string side_line(std::string_view name, const diff_side& side) {
  return fmt::format("{} {}: quintet {}, {}, {}\n", name, side.path,
                     side.found.version.empty() ? "not known" : side.found.version, side.found.command,
                     member(side.found.environment, "date"));
}

// Returns the server's name, and what distinguishes it from others of the same name.
std::string name_of(const run_result& r, const std::vector<change>& all) {
  const auto varies = [&](auto run_result::* what) {
    return std::any_of(all.begin(), all.end(), [&](const change& c) {
      return shape_text(c.what) == shape_text(r) && label_of(c.what) == label_of(r) && c.what.*what != r.*what;
    });
  };
  auto out = label_of(r);
  if (r.accept && varies(&run_result::accept)) out += ", " + *r.accept;
  if (r.offload && varies(&run_result::offload)) out += ", offload " + *r.offload;
  if (r.loops && varies(&run_result::loops)) out += fmt::format(", {:.0f} loops", *r.loops);
  return out;
}

std::string line_of(const change& c, const std::string& name) {
  return fmt::format("  {:<{}}{:<28}{:>11}{:>11}{:>7.3f}  {:>6.3f} to {:<6.3f}{:>5}  {}\n", name, name_width, c.by.key,
                     significant(c.before.median), significant(c.after.median), c.ratio.ratio, c.ratio.low,
                     c.ratio.high, percent(c.ratio.confidence), to_string(c.verdict));
}

std::string counts(const std::vector<change>& all) {
  std::string out;
  for (const auto t : {tendency::faster, tendency::slower, tendency::no_difference, tendency::too_noisy}) {
    const auto count = std::count_if(all.begin(), all.end(), [&](const change& c) { return c.verdict == t; });
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count, to_string(t));
  }
  return out;
}

json::object to_json(const sample_summary& s) {
  return {{"median", number(s.median)}, {"min", number(s.min)}, {"max", number(s.max)}, {"rounds", s.samples}};
}

// Returns the keys that identify a combination.
json::object names_of(const run_result& r) {
  return {{"workload", r.workload},
          {"model", text_or_null(r.model)},
          {"engine", text_or_null(r.engine)},
          {"handler", text_or_null(r.handler)},
          {"accept", text_or_null(r.accept)},
          {"offload", text_or_null(r.offload)},
          {"peer", text_or_null(r.peer)},
          {"connections", number(r.connections, true)},
          {"message_bytes", number(r.message_bytes, true)},
          {"pipeline", number(r.pipeline, true)},
          {"loops", number(r.loops, true)}};
}

json::object to_json(const change& c) {
  auto out = names_of(c.what);
  out["metric"] = c.by.key;
  out["before"] = to_json(c.before);
  out["after"] = to_json(c.after);
  out["ratio"] = number(c.ratio.ratio);
  out["interval"] = json::array{number(c.ratio.low), number(c.ratio.high)};
  out["confidence"] = number(c.ratio.confidence);
  out["verdict"] = to_string(c.verdict);
  return out;
}

json::object to_json(const diff_side& side) {
  return {{"file", side.path},
          {"quintet", side.found.version},
          {"command", side.found.command},
          {"environment", side.found.environment}};
}

}  // namespace

std::string diff_table(const diff_side& before, const diff_side& after, const differences& d) {
  auto out = side_line("before", before) + side_line("after ", after);
  for (const auto& warning : warnings(before.found, after.found)) out += "warning: " + warning + "\n";
  std::string shape;
  for (const change& c : d.changes) {
    if (const auto next = shape_text(c.what); next != shape) {
      shape = next;
      out += fmt::format("\n{:<{}}{:<28}{:>11}{:>11}{:>7}  {:>10}{:>12}\n", shape, name_width + 2, "", "before",
                         "after", "ratio", "interval", "");
    }
    out += line_of(c, name_of(c.what, d.changes));
  }
  if (!d.others.empty()) out += "\n";
  for (const unpaired& u : d.others)
    out += fmt::format("not compared: {}, {}: {}\n", shape_text(u.what), label_of(u.what), u.why);
  return out + fmt::format(
                   "\n{}. A ratio is after / before; beside it the interval in which it is with the confidence "
                   "told, as far as the noise between rounds goes.\n",
                   counts(d.changes));
}

json::object compose_diff(const diff_side& before, const diff_side& after, const differences& d) {
  json::array changes, others, told;
  for (const change& c : d.changes) changes.push_back(to_json(c));
  for (const unpaired& u : d.others) {
    others.push_back(names_of(u.what));
    others.back().get_object()["why"] = u.why;
  }
  for (const auto& warning : warnings(before.found, after.found)) told.emplace_back(warning);
  return {{"command", "diff"},           {"before", to_json(before)},     {"after", to_json(after)},
          {"warnings", std::move(told)}, {"changes", std::move(changes)}, {"not_compared", std::move(others)}};
}

}  // namespace quintet::bench
