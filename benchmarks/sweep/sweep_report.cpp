// SPDX-License-Identifier: BSL-1.0
// sweep_report.cpp: the curves of a sweep and their conclusions, as text for a terminal and as JSON.
#include "sweep/sweep_report.hpp"

#include <boost/json/array.hpp>

#include "report/verdict.hpp"
#include "sweep/conclusions.hpp"
#include "sweep/rows.hpp"

namespace quintet::bench {
namespace json = boost::json;

namespace {

json::value verdict_or_null(const std::optional<bool>& as_published) {
  return as_published ? json::value(*as_published ? "as published" : "not here") : json::value(nullptr);
}

json::array strings(const std::vector<std::string>& list) {
  json::array out;
  for (const auto& text : list) out.push_back(json::value(text));
  return out;
}

void add_shape(json::object& to, const std::vector<shape_verdict>& verdicts) {
  json::array points, shapes;
  for (const auto& p : published)
    points.push_back(
        json::object{{"connections", number(p.connections, true)}, {"requests_per_s", number(p.requests_per_s)}});
  for (const auto& shape : verdicts)
    shapes.push_back(json::object{
        {"server", shape.label}, {"rise", verdict_or_null(shape.rises)}, {"fall", verdict_or_null(shape.falls)}});
  to["published"] = std::move(points);
  to["shape"] = std::move(shapes);
}

}  // namespace

std::string sweep_table(const axis& a, const comparison& c) {
  const auto summary = summarise(c.results);
  const conclusions found(a, summary);
  std::string out = curve_blocks(a, summary);
  for (const auto& sentence : found.sentences) out += "  -> " + sentence + "\n";
  return out + (summary.empty() ? "" : noise_sentence(summary) + "\n");
}

json::object compose_sweep(const axis& a, const comparison& c) {
  const conclusions found(a, summarise(c.results));
  json::array leading, crossed;
  for (const auto& l : found.leading)
    leading.push_back(json::object{{"from", number(l.from)}, {"server", l.label}, {"as_good", strings(l.as_good)}});
  for (const auto& x : found.crossed)
    crossed.push_back(json::object{{"at", number(x.at)},
                                   {"before", x.before},
                                   {"after", x.after},
                                   {"apart_at", json::array{number(x.low), number(x.high)}}});
  auto out = compose_figures(c);
  out["leads"] = std::move(leading);
  out["crossings"] = std::move(crossed);
  if (!found.shapes.empty()) add_shape(out, found.shapes);
  out["verdicts"] = strings(found.sentences);
  return out;
}

}  // namespace quintet::bench
