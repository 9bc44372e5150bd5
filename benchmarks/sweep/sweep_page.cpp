// SPDX-License-Identifier: BSL-1.0
// sweep_page.cpp: a sweep as one self-contained HTML file: the chart, the conclusions and the figures.
#include "sweep/sweep_page.hpp"

#include <fmt/format.h>

#include "report/page.hpp"
#include "report/verdict.hpp"
#include "sweep/chart.hpp"
#include "sweep/conclusions.hpp"
#include "sweep/rows.hpp"
#include "sweep/sweep_report.hpp"

namespace quintet::bench {
namespace {

constexpr std::string_view page = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Quintet: {{axis}}</title>
<link rel="icon" href="data:,">
<style>
{{style}}
</style>
</head>
<body>
<header class="top">
  <p class="kicker"><b>Quintet</b> sweep {{axis}}</p>
  <h1>{{figure}} over {{column}}</h1>
  <p class="lead">Medians of the rounds; whiskers reach from the worst round to the best. A dashed line stands where the
  lead changes, in the colour of who takes it. Figures of a point: hold the pointer over it.</p>
</header>
<main>
<figure>
<p>{{legend}}</p>
{{chart}}
</figure>
{{sentences}}
<p class="note">{{noise}}</p>
<details open><summary>All figures</summary><div class="scroll"><pre>
{{table}}
</pre></div></details>
</main>
<footer>Written by <code>quintet-bench</code> {{version}}. Everything measured is in the element <code>#data</code> of the
source of this page.</footer>
<script type="application/json" id="data">
{{data}}
</script>
</body>
</html>
)";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else
      out += c;
  }
  return out;
}

std::string legend(std::span<const curve> all) {
  std::string out;
  for (const auto& c : all)
    out += fmt::format("<i class=\"dot\" style=\"--tint: {}\"></i> <code>{}</code>&emsp;", colour_of(c.label), c.label);
  return out;
}

std::string paragraphs(const std::vector<std::string>& sentences) {
  std::string out;
  for (const auto& sentence : sentences) out += fmt::format("<p class=\"verdict\">{}</p>\n", escaped(sentence));
  return out;
}

}  // namespace

std::string sweep_page(const axis& a, const comparison& c) {
  const auto summary = summarise(c.results);
  const conclusions found(a, summary);
  return fill_template(page, {{"style", embedded::style_css()},
                              {"axis", a.name},
                              {"column", a.column},
                              {"figure", a.figure == &run_result::mb_per_s ? "MB/s" : "Requests a second"},
                              {"legend", legend(found.figures)},
                              {"chart", svg_chart(a, found.figures, found.leading)},
                              {"sentences", paragraphs(found.sentences)},
                              {"noise", escaped(noise_sentence(summary))},
                              {"table", escaped(curve_blocks(a, summary))},
                              {"version", c.version},
                              {"data", without_markup(pretty(compose_sweep(a, c)))}});
}

}  // namespace quintet::bench
