// SPDX-License-Identifier: BSL-1.0
// report_test.cpp: nothing that was simulated looks as if it had been measured, and what is not known is null.
#include <boost/test/unit_test.hpp>

#include "forecast/forecast_report.hpp"
#include "support/made_up_costs.hpp"

using namespace quintet::bench::forecasting;

namespace {

findings made_up_findings() {
  findings f;
  f.costs = made_up_costs();
  f.costs.models[2].known = false;
  observation run{.model = 2, .workload = "echo", .connections = 10, .requests_per_s = 100'000, .p99 = 200};
  f.held_out.push_back({run, sim_outcome{110'000, 80, 150, 5, 0, 5}});
  run.model = 3;
  f.held_out.push_back({run, std::nullopt});
  f.forecast.push_back({4, 8, 200, sim_outcome{40'000, 20'000, 25'000, 210, 0, 0}});
  f.shapes.push_back({.name = "accept",
                      .title = "a title",
                      .shared = "one",
                      .separate = "each",
                      .conclusion = "a conclusion",
                      .published = "a figure",
                      .rows = {{24, 24, 100, 900, {}, 475'000}}});
  return f;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(forecast_report)

BOOST_AUTO_TEST_CASE(every_line_of_a_forecast_says_so) {
  const auto text = forecast_table(made_up_findings());
  const auto line_with = [&](std::string_view part) {
    const auto at = text.find(part);
    BOOST_TEST_REQUIRE(at != text.npos, part);
    const auto begin = text.rfind('\n', at) + 1;
    return text.substr(begin, text.find('\n', at) - begin);
  };
  BOOST_TEST(line_with("40,000").find("forecast") != std::string::npos);
  BOOST_TEST(line_with("475,000").find("forecast") != std::string::npos);
  BOOST_TEST(line_with("a conclusion").find("forecast") != std::string::npos);
  BOOST_TEST(line_with("a figure").find("published") != std::string::npos);
  BOOST_TEST(line_with("110,000").find("+10 %") != std::string::npos);
  BOOST_TEST(line_with("held out, requests/s").find("within 15 %: 1 of 1") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(every_cost_has_a_source) {
  for (const cost_line& line : cost_lines(made_up_findings())) {
    BOOST_TEST_CONTEXT(line.name)
    BOOST_TEST((line.source.find("measured here") != std::string::npos || line.source == "assumed"));
    BOOST_TEST(line.model != 3);  // not calibrated
  }
}

BOOST_AUTO_TEST_CASE(what_is_not_known_is_null) {
  const auto out = compose_forecast(made_up_findings());
  const auto& held_out = out.at("held_out").as_array();
  BOOST_TEST(held_out[0].at("error").as_double() == 0.1, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(held_out[1].at("error").is_null());
  BOOST_TEST(held_out[1].at("simulated_requests_per_s").is_null());
  BOOST_TEST(out.at("errors").at("fitted").at("requests_per_s").at("all").is_null());
  BOOST_TEST(out.at("forecast").at(0).at("kind").as_string() == "forecast");
  BOOST_TEST(out.at("shapes").at(0).at("rows").at(0).at("published_shared").is_null());
  for (const auto& line : out.at("costs").as_array()) {
    if (line.at("name").as_string().starts_with("a short connection")) BOOST_TEST(line.at("value").is_null());
  }
}

BOOST_AUTO_TEST_SUITE_END()
