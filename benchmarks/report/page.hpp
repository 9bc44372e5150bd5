// SPDX-License-Identifier: BSL-1.0
// page.hpp: the report, one HTML file that needs nothing beside itself.
#pragma once

#include <boost/json/array.hpp>
#include <string>
#include <string_view>

#include "report/document.hpp"

namespace quintet::bench {

// The parts of the page, put into the program when it is built.
namespace embedded {
std::string_view template_html();
std::string_view style_css();
std::string_view plots_js();
std::string_view others_js();
std::string_view report_js();
std::string_view chart_js();  // empty when the charting library was not there at build time
}  // namespace embedded

// With a section for each of the others: see read_other().
std::string html_page(const comparison&, const boost::json::array& others = {});

// For what stands inside a script element, where nothing may look like markup.
std::string without_markup(std::string json);

// Puts parts in the place of {{names}}; a name without a part is a std::logic_error.
struct part {
  std::string_view name, text;
};
std::string fill_template(std::string_view text, std::initializer_list<part>);

}  // namespace quintet::bench
