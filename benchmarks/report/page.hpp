// SPDX-License-Identifier: BSL-1.0
// page.hpp: the report as one self-contained HTML file.
#pragma once

#include <boost/json/array.hpp>
#include <string>
#include <string_view>

#include "report/document.hpp"

namespace quintet::bench {

// The parts of the page, embedded into the program at build time.
namespace embedded {
std::string_view template_html();
std::string_view style_css();
std::string_view plots_js();
std::string_view others_js();
std::string_view report_js();
std::string_view chart_js();  // empty if the charting library was missing at build time
}  // namespace embedded

// Returns the page, with a section for each of the others: see read_other().
std::string html_page(const comparison&, const boost::json::array& others = {});

// Escapes JSON for a script element, where nothing may look like markup.
std::string without_markup(std::string json);

// Replaces {{names}} by parts. A name without a part throws std::logic_error.
struct part {
  std::string_view name, text;
};
std::string fill_template(std::string_view text, std::initializer_list<part>);

}  // namespace quintet::bench
