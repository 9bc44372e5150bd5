// SPDX-License-Identifier: BSL-1.0
// axis_test.cpp: the values of each axis on a command line, and what they make of a workload.
#include "sweep/axis.hpp"

#include <boost/test/unit_test.hpp>

#include "compare/settings.hpp"
#include "options.hpp"

using namespace quintet::bench;
using list = std::vector<double>;

BOOST_AUTO_TEST_SUITE(sweep_axis)

BOOST_AUTO_TEST_CASE(values_are_sorted_and_each_is_taken_once) {
  BOOST_TEST(parse_values(require_axis("connections"), "100,5,5,20000") == (list{5, 100, 20'000}),
             boost::test_tools::per_element());
  BOOST_TEST(parse_values(require_axis("size"), "64k,8,4k") == (list{8, 4096, 65'536}),
             boost::test_tools::per_element());
  BOOST_TEST(parse_values(require_axis("pipeline"), "1,64") == (list{1, 64}), boost::test_tools::per_element());
  BOOST_TEST(parse_values(require_axis("handler-us"), "0,1ms,50000,0.2ms,30us") == (list{0, 30, 200, 1000, 50'000}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(wrong_values_are_refused) {
  const auto refused = [](const char* name, const char* text) {
    BOOST_CHECK_THROW(parse_values(require_axis(name), text), usage_error);
  };
  for (const char* text : {"", "1", "5,5", "1,,2", "0,1", "1,20001", "1,2x", "1,1k"}) refused("connections", text);
  for (const char* text : {"7,64", "8,65m", "8;16"}) refused("size", text);
  for (const char* text : {"0,1", "1,10001"}) refused("pipeline", text);
  for (const char* text : {"0,1", "1,1025", "1,2..4"}) refused("threads", text);
  for (const char* text : {"0us,51ms", "0us,0.5us", "0us,fast", "1,50001"}) refused("handler-us", text);
  BOOST_CHECK_THROW(require_axis("handlers"), usage_error);
}

BOOST_AUTO_TEST_CASE(every_axis_has_defaults_that_it_takes_itself) {
  for (const axis& a : axes) {
    const auto values = parse_values(a, a.default_values);
    const auto points = vary(a, parse_base(a, a.default_workload), values);
    BOOST_TEST(points.size() == values.size());
    BOOST_TEST(!parse_models(a.default_models).empty());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const workload& w = points[i];
      const auto found = a.field == &run_result::connections     ? w.connections
                         : a.field == &run_result::message_bytes ? static_cast<double>(w.message_bytes)
                         : a.field == &run_result::pipeline      ? w.pipeline
                         : a.field == &run_result::loops         ? w.threads.value_or(0)
                                                                 : static_cast<double>(w.cost.count());
      BOOST_TEST(found == values[i], a.name);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_handler_time_is_part_of_the_name_by_which_the_server_is_told) {
  const axis& a = require_axis("handler-us");
  const auto points = vary(a, parse_base(a, "blocking"), {0, 1500});
  BOOST_TEST(points[0].name == "blocking:0us");
  BOOST_TEST(points[1].name == "blocking:1500us");
  BOOST_TEST((points[1].kind == work_kind::blocking));
}

BOOST_AUTO_TEST_CASE(workloads_that_cannot_vary_so_are_refused) {
  for (const char* wrong : {"echo", "cpu:200us", "mixed", "cpu,blocking"})
    BOOST_CHECK_THROW(parse_base(require_axis("handler-us"), wrong), usage_error);
  BOOST_CHECK_THROW(parse_base(require_axis("pipeline"), "short"), usage_error);
  BOOST_CHECK_THROW(parse_base(require_axis("connections"), "echo,large"), usage_error);
  BOOST_TEST(parse_base(require_axis("connections"), "cpu:20us").name == "cpu:20us");
}

BOOST_AUTO_TEST_SUITE_END()
