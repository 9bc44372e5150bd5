// SPDX-License-Identifier: BSL-1.0
// curve_test.cpp: where curves cross, who is ahead from where on, whether a curve has the published shape, the drawing.
#include "sweep/curve.hpp"

#include <boost/test/unit_test.hpp>

#include "sweep/chart.hpp"
#include "sweep/crossing.hpp"
#include "sweep/shape.hpp"

using namespace quintet::bench;
using boost::test_tools::tolerance;

namespace {

// Rounds that are all within `noise` of the median.
curve_point point(double value, double median, double noise = 0.01) {
  return {value, {median, median * (1 - noise), median * (1 + noise), 3}};
}

// One thread needs the handler's time and 5 us for a request; two threads half of the handler's time and 20 us.
curve one_thread(const std::vector<double>& values) {
  curve c{"one", {}};
  for (const double us : values) c.points.push_back(point(us, 1e6 / (5 + us)));
  return c;
}
curve two_threads(const std::vector<double>& values) {
  curve c{"two", {}};
  for (const double us : values) c.points.push_back(point(us, 1e6 / (20 + us / 2)));
  return c;
}

curve shaped(std::initializer_list<curve_point> points) { return {"single_reactor", points}; }

}  // namespace

BOOST_AUTO_TEST_SUITE(sweep_curve)

BOOST_AUTO_TEST_CASE(the_crossing_of_straight_times_is_found_exactly) {
  const std::vector<double> values{0, 10, 100, 1000};
  const std::vector<curve> both{one_thread(values), two_threads(values)};
  const auto found = crossings(both);
  BOOST_TEST_REQUIRE(found.size() == 1u);
  BOOST_TEST(found[0].at == 30.0, tolerance(1e-9));  // 5 + x = 20 + x / 2
  BOOST_TEST(found[0].before == "one");
  BOOST_TEST(found[0].after == "two");
  BOOST_TEST(found[0].low == 10);
  BOOST_TEST(found[0].high == 100);
}

BOOST_AUTO_TEST_CASE(a_crossing_at_a_measured_value_is_that_value) {
  const std::vector<double> values{0, 30, 100};
  const std::vector<curve> both{one_thread(values), two_threads(values)};
  const auto found = crossings(both);
  BOOST_TEST_REQUIRE(found.size() == 1u);
  BOOST_TEST(found[0].at == 30.0, tolerance(1e-6));
  BOOST_TEST(found[0].low == 0);
  BOOST_TEST(found[0].high == 100);
}

BOOST_AUTO_TEST_CASE(noise_makes_no_crossings) {
  const std::vector<curve> both{{"a", {point(1, 100, 0.1), point(2, 105, 0.1), point(3, 100, 0.1)}},
                                {"b", {point(1, 102, 0.1), point(2, 101, 0.1), point(3, 103, 0.1)}}};
  BOOST_TEST(crossings(both).empty());
  const auto found = leads(both);
  BOOST_TEST_REQUIRE(found.size() == 1u);
  BOOST_TEST(found[0].label == "b");  // the best median at the first value
  BOOST_TEST(found[0].as_good == std::vector<std::string>{"a"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(points_that_are_apart_by_less_than_the_usual_spread_are_no_crossing) {
  // At 1 and at 4 all rounds of one are above all of the other, as it happens with three rounds in one case of ten.
  const std::vector<curve> both{
      {"a", {point(1, 104, 0.01), point(2, 100, 0.1), point(3, 100, 0.1), point(4, 100, 0.01)}},
      {"b", {point(1, 100, 0.01), point(2, 101, 0.1), point(3, 99, 0.1), point(4, 104, 0.01)}}};
  BOOST_TEST(crossings(both).empty());
  BOOST_TEST(leads(both).size() == 1u);
}

BOOST_AUTO_TEST_CASE(several_changes_within_the_noise_are_one_crossing_in_their_middle) {
  const std::vector<curve> both{
      {"a", {point(0, 200), point(1, 100, 0.2), point(2, 110, 0.2), point(3, 100, 0.2), point(4, 100)}},
      {"b", {point(0, 100), point(1, 110, 0.2), point(2, 100, 0.2), point(3, 110, 0.2), point(4, 200)}}};
  const auto found = crossings(both);
  BOOST_TEST_REQUIRE(found.size() == 1u);
  BOOST_TEST(found[0].low == 0);
  BOOST_TEST(found[0].high == 4);
  BOOST_TEST(found[0].at > 1.0);
  BOOST_TEST(found[0].at < 2.5);
}

BOOST_AUTO_TEST_CASE(curves_that_cross_twice_have_two_crossings) {
  const std::vector<curve> both{{"a", {point(0, 200), point(10, 100), point(20, 200)}},
                                {"b", {point(0, 100), point(10, 200), point(20, 100)}}};
  const auto found = crossings(both);
  BOOST_TEST_REQUIRE(found.size() == 2u);
  BOOST_TEST(found[0].at == 5.0, tolerance(1e-9));
  BOOST_TEST(found[0].after == "b");
  BOOST_TEST(found[1].at == 15.0, tolerance(1e-9));
  BOOST_TEST(found[1].after == "a");
}

BOOST_AUTO_TEST_CASE(who_leads_from_where_on) {
  const std::vector<double> values{0, 10, 100, 1000};
  auto also_two = two_threads(values);
  also_two.label = "also two";
  for (auto& p : also_two.points) p.figure.median *= 0.999;
  const std::vector<curve> all{one_thread(values), two_threads(values), also_two};
  const auto found = leads(all);
  BOOST_TEST_REQUIRE(found.size() == 2u);
  BOOST_TEST(found[0].label == "one");
  BOOST_TEST(found[0].from == 0);
  BOOST_TEST(found[0].as_good.empty());
  BOOST_TEST(found[1].label == "two");
  BOOST_TEST(found[1].from == 30.0, tolerance(1e-9));
  BOOST_TEST(found[1].as_good == std::vector<std::string>{"also two"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(points_that_were_not_measured_are_left_out) {
  auto one = one_thread({0, 10, 1000});
  const std::vector<curve> both{one, two_threads({0, 100, 1000})};
  const auto found = crossings(both);
  BOOST_TEST_REQUIRE(found.size() == 1u);  // from what they have in common
  BOOST_TEST(found[0].at == 30.0, tolerance(1e-9));
  BOOST_TEST(leads(both).size() == 2u);
  BOOST_TEST(leads({}).empty());
  BOOST_TEST(crossings(std::vector<curve>{one}).empty());
}

BOOST_AUTO_TEST_CASE(curves_come_from_a_summary) {
  std::vector<run_result> results;
  for (const unsigned round : {1u, 2u}) {
    for (const double connections : {10.0, 1.0}) {
      for (const char* model : {"single_reactor", "reactor_pool"}) {
        run_result r;
        r.workload = "echo";
        r.model = model;
        r.round = round;
        r.connections = connections;
        r.requests_per_s = connections * 100 + round;
        r.client_cpu_fraction = connections == 10 ? 0.99 : 0.5;
        results.push_back(r);
      }
    }
  }
  results[0].error = "gone";
  const auto found = curves_of(summarise(results), &run_result::connections, &run_result::requests_per_s);
  BOOST_TEST_REQUIRE(found.size() == 2u);
  const curve& c = found[0];
  BOOST_TEST(c.label == "single_reactor");
  BOOST_TEST_REQUIRE(c.points.size() == 2u);
  BOOST_TEST(c.points[0].value == 1);
  BOOST_TEST(c.points[0].figure.median == 101.5);
  BOOST_TEST(!c.points[0].client_bound);
  BOOST_TEST(c.points[1].figure.samples == 1u);
  BOOST_TEST(c.points[1].client_bound);
  BOOST_TEST(c.reached(0.9) == 10);
  BOOST_TEST(c.reached(0.1) == 1);
}

BOOST_AUTO_TEST_CASE(a_drawing_has_each_curve_and_where_the_lead_changes) {
  const std::vector<double> values{0, 10, 100, 1000};
  auto one = one_thread(values), two = two_threads(values);
  one.label = "single_reactor";
  two.label = "loop_per_thread_pool (asio)";
  const std::vector<curve> both{one, two};
  const auto drawing = svg_chart(axes.back(), both, leads(both));
  const auto times = [&](std::string_view part) {
    int count = 0;
    for (std::size_t at = 0; (at = drawing.find(part, at)) != drawing.npos; ++at) ++count;
    return count;
  };
  BOOST_TEST(times("<polyline") == 2);
  BOOST_TEST(times("<circle") == 8);
  BOOST_TEST(times("stroke: var(--m5); stroke-dasharray") == 1);
  BOOST_TEST(times("fill: none; stroke: var(--m2)") == 1);
  BOOST_TEST(times("nan") == 0);
  BOOST_TEST(svg_chart(axes.front(), {}, {}).find("Nothing") != std::string::npos);  // interrupted at once
}

BOOST_AUTO_TEST_CASE(the_published_curve_has_the_published_shape) {
  curve c{"single_reactor", {}};
  for (const auto& p : published) c.points.push_back(point(p.connections, p.requests_per_s));
  const auto shape = evaluate_shape(c);
  BOOST_TEST(shape.rises.value());
  BOOST_TEST(shape.falls.value());
  BOOST_TEST(
      shape.rise.starts_with("the rise: as published; 100 % of its peak at 30 connections, 5 % at 1 connection"));
  BOOST_TEST(shape.fall == "the fall: as published; 45 % of its peak is left at 5,000 connections (published: 45 %).");
  BOOST_TEST(published_at(30).value() == 200'000);
  BOOST_TEST(!published_at(50).has_value());
}

BOOST_AUTO_TEST_CASE(another_shape_is_said_to_be_another) {
  const auto flat = evaluate_shape(shaped({point(1, 95), point(30, 100), point(5000, 76)}));
  BOOST_TEST(!flat.rises.value());  // there already with one connection
  BOOST_TEST(!flat.falls.value());
  BOOST_TEST(flat.fall.find("not here; 76 % of its peak") != flat.fall.npos, flat.fall);
  const auto late = evaluate_shape(shaped({point(1, 10), point(30, 89), point(300, 100), point(5000, 75)}));
  BOOST_TEST(!late.rises.value());
  BOOST_TEST(late.rise.find("not here; 89 % of its peak at 30 connections") != late.rise.npos, late.rise);
  BOOST_TEST(late.falls.value());
}

BOOST_AUTO_TEST_CASE(what_was_not_measured_is_not_judged) {
  const auto shape = evaluate_shape(shaped({point(1, 10), point(100, 100), point(1000, 50)}));
  BOOST_TEST(!shape.rises.has_value());
  BOOST_TEST(!shape.falls.has_value());
  BOOST_TEST(shape.rise.find("not judged") != shape.rise.npos);
  BOOST_TEST(shape.fall.find("not judged") != shape.fall.npos);
}

BOOST_AUTO_TEST_SUITE_END()
