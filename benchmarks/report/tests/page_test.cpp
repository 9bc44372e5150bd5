// SPDX-License-Identifier: BSL-1.0
// page_test.cpp: the page is made of its parts, carries its data, and asks for nothing from outside.
#include "report/page.hpp"

#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <stdexcept>

#include "made_up.hpp"

namespace quintet::bench {

static bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

BOOST_AUTO_TEST_CASE(a_template_takes_its_parts_and_complains_of_missing_ones) {
  BOOST_TEST(fill_template("a{{x}}b{{y}}c", {{"x", "1"}, {"y", "{{x}}"}}) == "a1b{{x}}c");
  BOOST_CHECK_THROW(fill_template("{{z}}", {{"x", "1"}}), std::logic_error);
  BOOST_CHECK_THROW(fill_template("{{x", {{"x", "1"}}), std::logic_error);
}

BOOST_AUTO_TEST_CASE(the_page_stands_alone) {
  comparison c;
  add_rounds(c.results, "echo", "loop_per_thread", {1, 2, 3});
  c.environment["cpu_model"] = "</script><b>evil</b>";  // nothing in the data may end the element that carries it
  const auto page = html_page(c);
  BOOST_TEST(contains(page, "<!doctype html>"));
  BOOST_TEST(contains(page, "loop_per_thread"));
  BOOST_TEST(!contains(page, "</script><b>evil"));
  for (const auto* outside : {"src=\"http", "href=\"http", "url(http", "@import", "<link rel=\"stylesheet\""}) {
    BOOST_TEST(!contains(page, outside), outside);
  }
}

BOOST_AUTO_TEST_CASE(the_data_in_the_page_is_the_document) {
  comparison c;
  add_rounds(c.results, "echo", "loop_per_thread", {1, 2, 3});
  c.environment["cpu_model"] = "a < b";
  const auto page = html_page(c);
  constexpr std::string_view opening = R"(id="data">)";
  const auto from = page.find(opening) + opening.size();
  const auto data = page.substr(from, page.find("</script>", from) - from);
  BOOST_TEST(pretty(boost::json::parse(data)) == pretty(compose(c)));
}

BOOST_AUTO_TEST_CASE(the_licence_notice_of_the_plots_stays) {
  if (!embedded::chart_js().empty()) BOOST_TEST(contains(embedded::chart_js(), "MIT License"));
  BOOST_TEST(contains(embedded::template_html(), "{{data}}"));
}

}  // namespace quintet::bench
