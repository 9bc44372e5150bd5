// SPDX-License-Identifier: BSL-1.0
// chart.cpp: draws the curves of a sweep as an SVG element in the colours of the report.
#include "sweep/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "report/models.hpp"
#include "report/text.hpp"

namespace quintet::bench {
namespace {

constexpr double width = 960, height = 400, left = 84, right = 24, top = 16, bottom = 52;

// Maps values and figures to positions in the drawing.
class scales {
 public:
  explicit scales(std::span<const curve> all) {
    std::set<double> values;
    double most = 0, least = HUGE_VAL;
    for (const auto& c : all) {
      for (const auto& p : c.points) {
        values.insert(p.value);
        most = std::max(most, p.figure.max);
        least = std::min(least, p.figure.min);
      }
    }
    values_.assign(values.begin(), values.end());
    logarithmic_ = least > 0 && most > 50 * least;
    low_ = logarithmic_ ? least / 1.3 : 0;
    high_ = logarithmic_ ? most * 1.3 : most * 1.05;
  }

  const std::vector<double>& values() const { return values_; }

  // Interpolates linearly between two values.
  double x(double value) const {
    const auto above = std::lower_bound(values_.begin(), values_.end(), value);
    auto place = static_cast<double>(above - values_.begin());
    if (above != values_.begin() && above != values_.end()) place -= (*above - value) / (*above - *std::prev(above));
    const double step = values_.size() > 1 ? (width - left - right) / static_cast<double>(values_.size() - 1) : 0;
    return left + step * std::min(place, static_cast<double>(values_.size()) - 1);
  }

  double y(double figure) const {
    const double part = logarithmic_ ? std::log(std::max(figure, low_) / low_) / std::log(high_ / low_)
                                     : (figure - low_) / (high_ - low_);
    return height - bottom - part * (height - top - bottom);
  }

  std::vector<double> ticks() const {
    std::vector<double> out;
    if (logarithmic_) {
      for (double decade = std::pow(10, std::floor(std::log10(low_))); decade <= high_; decade *= 10) {
        for (const double factor : {1.0, 3.0}) out.push_back(decade * factor);
      }
    } else {
      const double rough = high_ / 5, decade = std::pow(10, std::floor(std::log10(rough)));
      const double step = decade * (rough < 2 * decade ? 2 : rough < 5 * decade ? 5 : 10);
      for (double tick = 0; tick <= high_; tick += step) out.push_back(tick);
    }
    std::erase_if(out, [&](double tick) { return tick < low_ || tick > high_; });
    return out;
  }

 private:
  std::vector<double> values_;
  bool logarithmic_ = false;
  double low_ = 0, high_ = 1;
};

std::string text(double x, double y, std::string_view anchor, std::string_view words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, words);
}

std::string line(double x1, double y1, double x2, double y2, std::string_view style) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" style=\"{}\"/>\n", x1, y1, x2, y2,
                     style);
}

std::string axes_of(const axis& a, const scales& s) {
  std::string out;
  for (const double tick : s.ticks()) {
    out += line(left, s.y(tick), width - right, s.y(tick), "stroke: var(--line)");
    out += text(left - 10, s.y(tick) + 4, "end", tick == 0 ? "0" : tick < 10 ? significant(tick) : grouped(tick));
  }
  for (const double value : s.values()) out += text(s.x(value), height - bottom + 20, "middle", a.text(value));
  return out + text((left + width - right) / 2, height - 10, "middle", a.column);
}

// Interpolates the reciprocal linearly, as crossings do, so that lines cross at the stated value.
std::string path_between(const curve_point& p, const curve_point& q, const scales& s) {
  constexpr int steps = 12;
  std::string out;
  for (int i = 1; i <= steps; ++i) {
    const double part = static_cast<double>(i) / steps;
    const double figure = 1 / ((1 - part) / p.figure.median + part / q.figure.median);
    out += fmt::format("{:.1f},{:.1f} ", s.x(p.value + part * (q.value - p.value)), s.y(figure));
  }
  return out;
}

std::string drawn(const axis& a, const curve& c, const scales& s) {
  const auto colour = colour_of(c.label);
  std::string path, points;
  for (const auto& p : c.points) {
    const double x = s.x(p.value), y = s.y(p.figure.median);
    path += &p == &c.points.front() ? fmt::format("{:.1f},{:.1f} ", x, y) : path_between(*std::prev(&p), p, s);
    points += line(x, s.y(p.figure.min), x, s.y(p.figure.max), fmt::format("stroke: {}; stroke-width: 1.5", colour));
    points += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" style=\"fill: {}\"><title>{}, {}: {} ({} to "
        "{}){}</title></circle>\n",
        x, y, colour, c.label, a.text(p.value), significant(p.figure.median), significant(p.figure.min),
        significant(p.figure.max), p.client_bound ? ", the client was the bottleneck" : "");
  }
  return fmt::format("<polyline points=\"{}\" style=\"fill: none; stroke: {}; stroke-width: 2\"/>\n{}", path, colour,
                     points);
}

}  // namespace

std::string colour_of(std::string_view label) {
  const auto model = label.substr(0, label.find(' '));
  const auto found = std::find(model_names.begin(), model_names.end(), model);
  return found == model_names.end() ? "var(--peer)" : fmt::format("var(--m{})", found - model_names.begin() + 1);
}

std::string svg_chart(const axis& a, std::span<const curve> all, std::span<const lead> leading) {
  if (all.empty()) return "<p>Nothing was measured.</p>\n";
  const scales s(all);
  auto out = fmt::format(
      "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"the curves; the table below has their figures\" "
      "style=\"width: 100%; font: 12px var(--sans); fill: var(--soft)\">\n",
      width, height);
  out += axes_of(a, s);
  for (std::size_t i = 1; i < leading.size(); ++i)
    out += line(s.x(leading[i].from), top, s.x(leading[i].from), height - bottom,
                fmt::format("stroke: {}; stroke-dasharray: 5 4", colour_of(leading[i].label)));
  for (const auto& c : all) out += drawn(a, c, s);
  return out + "</svg>\n";
}

}  // namespace quintet::bench
