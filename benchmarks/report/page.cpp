// SPDX-License-Identifier: BSL-1.0
// page.cpp: the report as one self-contained HTML file.
#include "report/page.hpp"

#include <algorithm>
#include <stdexcept>

extern "C" {
// Symbols of embedded.S: first byte and one past the last.
extern const char quintet_template_html[], quintet_template_html_end[];
extern const char quintet_style_css[], quintet_style_css_end[];
extern const char quintet_plots_js[], quintet_plots_js_end[];
extern const char quintet_others_js[], quintet_others_js_end[];
extern const char quintet_report_js[], quintet_report_js_end[];
extern const char quintet_chart_js[], quintet_chart_js_end[];
}

namespace quintet::bench {

namespace {

std::string_view between(const char* first, const char* last) {
  return {first, static_cast<std::size_t>(last - first)};
}

}  // namespace

std::string without_markup(std::string text) {
  for (std::size_t at = 0; (at = text.find('<', at)) != std::string::npos; at += 6) text.replace(at, 1, "\\u003c");
  return text;
}

namespace embedded {
std::string_view template_html() { return between(quintet_template_html, quintet_template_html_end); }
std::string_view style_css() { return between(quintet_style_css, quintet_style_css_end); }
std::string_view plots_js() { return between(quintet_plots_js, quintet_plots_js_end); }
std::string_view others_js() { return between(quintet_others_js, quintet_others_js_end); }
std::string_view report_js() { return between(quintet_report_js, quintet_report_js_end); }
std::string_view chart_js() { return between(quintet_chart_js, quintet_chart_js_end); }
}  // namespace embedded

std::string fill_template(std::string_view text, std::initializer_list<part> parts) {
  std::string out;
  while (true) {
    const auto open = text.find("{{");
    out += text.substr(0, open);
    if (open == std::string_view::npos) return out;
    const auto close = text.find("}}", open);
    if (close == std::string_view::npos) throw std::logic_error("template: {{ without }}");
    const auto name = text.substr(open + 2, close - open - 2);
    const auto found = std::find_if(parts.begin(), parts.end(), [&](const part& p) { return p.name == name; });
    if (found == parts.end()) throw std::logic_error("template: no part named " + std::string(name));
    out += found->text;
    text.remove_prefix(close + 2);
  }
}

std::string html_page(const comparison& c, const boost::json::array& others) {
  const auto data = without_markup(pretty(compose(c)));
  return fill_template(embedded::template_html(), {{"style", embedded::style_css()},
                                                   {"chart_js", embedded::chart_js()},
                                                   {"plots_js", embedded::plots_js()},
                                                   {"others_js", embedded::others_js()},
                                                   {"report_js", embedded::report_js()},
                                                   {"data", data},
                                                   {"others", without_markup(pretty(others))}});
}

}  // namespace quintet::bench
