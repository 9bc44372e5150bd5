// SPDX-License-Identifier: BSL-1.0
// report_test.cpp: each allocator beside glibc's of the same model and round, and what is said of that.
#include "allocators/allocators_report.hpp"

#include <boost/json/array.hpp>
#include <boost/test/unit_test.hpp>

using namespace quintet::bench;

namespace {

run_result made_up(const char* model, const char* allocator, unsigned round, double cpu_us) {
  run_result r;
  r.workload = "kv-set";
  r.model = model;
  r.allocator = allocator;
  r.round = round;
  r.requests_per_s = 1e5;
  r.server_cpu_us_per_request = cpu_us;
  r.server_rss_bytes = 8 << 20;
  return r;
}

// Each round the machine is slower; jemalloc is always better, tcmalloc now and then.
comparison some_rounds(unsigned count = 5) {
  comparison c;
  for (unsigned round = 1; round <= count; ++round) {
    const double slow = round;
    for (const char* model : {"single_reactor", "loop_per_thread"}) {
      c.results.push_back(made_up(model, "glibc", round, 10 * slow));
      c.results.push_back(made_up(model, "tcmalloc", round, 10 * slow * (0.8 + 0.1 * round)));
      c.results.push_back(made_up(model, "jemalloc", round, 5 * slow));
    }
  }
  return c;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(allocators_report)

BOOST_AUTO_TEST_CASE(each_is_compared_with_glibc_of_its_model_and_round) {
  const auto out = compose_allocators(some_rounds());
  const auto& ratios = out.at("ratios").as_array();
  BOOST_TEST_REQUIRE(ratios.size() == 4u);  // two of each model
  const auto& first = ratios[0].as_object();
  BOOST_TEST(first.at("model").as_string() == "single_reactor");
  BOOST_TEST(first.at("allocator").as_string() == "tcmalloc");
  BOOST_TEST(first.at("reference").as_string() == "glibc");
  BOOST_TEST(first.at("min").as_double() == 0.9, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(first.at("max").as_double() == 1.3, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(ratios[1].at("median").as_double() == 0.5);
  BOOST_TEST(out.at("summary").as_array().size() == 6u);
  BOOST_TEST(out.at("results").at(0).at("allocator").as_string() == "glibc");
  BOOST_TEST(out.at("results").at(0).at("handler").is_null());
}

BOOST_AUTO_TEST_CASE(the_table_has_a_block_for_each_model_and_says_what_cannot_be_told_apart) {
  const auto table = allocators_table(some_rounds());
  const std::string verdict =
      "-> loop_per_thread: jemalloc needs 0.50 times the CPU of glibc (rounds from 0.50 to 0.50); tcmalloc and glibc "
      "cannot be told apart by CPU.";
  for (const auto& part : {verdict, std::string("8.00 MiB"), std::string("0.90 to 1.30"), std::string("Noise")})
    BOOST_TEST(table.find(part) != table.npos, part << " is not in\n" << table);
  const auto few = allocators_table(some_rounds(4));
  BOOST_TEST(few.find("glibc cannot be told apart by CPU in so few rounds.") != few.npos, few);
  BOOST_TEST(few.find("needs") == few.npos, few);
}

BOOST_AUTO_TEST_CASE(a_run_that_failed_has_no_ratio) {
  auto c = some_rounds();
  for (auto& r : c.results) {
    if (r.allocator == "jemalloc") r.error = "jemalloc was not preloaded";
  }
  const auto table = allocators_table(c);
  BOOST_TEST(table.find("failed: jemalloc was not preloaded") != table.npos, table);
  BOOST_TEST(table.find("jemalloc needs") == table.npos, table);
}

BOOST_AUTO_TEST_CASE(instructions_are_told_with_their_ratio_however_small) {
  comparison c;
  for (const char* allocator : {"glibc", "jemalloc", "mimalloc"}) {
    c.results.push_back(made_up("single_reactor", allocator, 1, 0));
    auto& r = c.results.back();
    r.server_cpu_us_per_request = r.requests_per_s = std::nullopt;
    r.instructions_per_request = r.allocator == "mimalloc" ? 1900 : r.allocator == "glibc" ? 2000 : 2003;
  }
  const auto table = allocators_table(c);
  BOOST_TEST(table.find("single_reactor: mimalloc needs 0.95 times the instructions of glibc; jemalloc and glibc "
                        "need as many instructions.") != table.npos,
             table);
  BOOST_TEST(table.find("Noise") == table.npos);
  BOOST_TEST(compose_allocators(c).at("ratios").at(0).at("metric").as_string() == "instructions_per_request");
}

BOOST_AUTO_TEST_SUITE_END()
