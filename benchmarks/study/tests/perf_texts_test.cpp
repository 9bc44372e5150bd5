// SPDX-License-Identifier: BSL-1.0
// perf_texts_test.cpp: recorded output of perf and cachegrind, and what is made of it.
#include "study/perf_texts.hpp"

#include <boost/test/unit_test.hpp>

#include "compare/child_process.hpp"
#include "study/perf_tool.hpp"

namespace quintet::bench {

BOOST_AUTO_TEST_CASE(counters_that_the_machine_does_not_have_have_no_value) {
  // perf 6.1 in a virtual machine without a PMU; its exit status was 0.
  const auto counts = parse_perf_stat(
      "<not supported>,,cache-references,0,100.00,,\n"
      "<not supported>,,cache-misses,0,100.00,,\n"
      "<not counted>,,cycles:u,0,0.00,,\n"
      "6437,,context-switches,528198780,100.00,12.187,K/sec\n"
      "528.20,msec,task-clock,528198780,100.00,0.527,CPUs utilized\n");
  BOOST_TEST_REQUIRE(counts.size() == 5u);
  BOOST_TEST(!counts.at("cache-references").has_value());
  BOOST_TEST(!counts.at("cycles").has_value());
  BOOST_TEST(counts.at("context-switches").value() == 6437);
  BOOST_TEST(counts.at("task-clock").value() == 528.20);
}

BOOST_AUTO_TEST_CASE(counters_of_a_machine_that_has_them) {
  const auto counts = parse_perf_stat(
      "\n31807891996,,cache-references,126840000000,100.00,250.771,M/sec\n"
      "1515770600,,cache-misses,126840000000,100.00,4.765,of all cache refs\n");
  BOOST_TEST(counts.at("cache-references").value() == 31807891996.0);
  BOOST_TEST(counts.at("cache-misses").value() == 1515770600.0);
  BOOST_TEST(parse_perf_stat("Error:\nAccess to performance monitoring, and so on, is limited.\n").empty());
}

BOOST_AUTO_TEST_CASE(a_profile_names_functions_and_where_they_are) {
  const auto found = parse_perf_report(
      "# To display the perf.data header info, please use --header/--header-only options.\n"
      "#\n"
      "# Overhead|Symbol                                       |Shared Object      \n"
      " 6.51%  |[k] _raw_spin_unlock_irqrestore              |[kernel.kallsyms]  \n"
      " 1.50%  |[.] quintet::f(std::pair<int, int>, char)    |quintet-bench      \n"
      "\n");
  BOOST_TEST_REQUIRE(found.size() == 2u);
  BOOST_TEST(found[0].share == 0.0651, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(found[0].symbol == "_raw_spin_unlock_irqrestore");
  BOOST_TEST(found[0].in_kernel);
  BOOST_TEST(found[1].symbol == "quintet::f(std::pair<int, int>, char)");
  BOOST_TEST(found[1].object == "quintet-bench");
  BOOST_TEST(!found[1].in_kernel);
}

BOOST_AUTO_TEST_CASE(lock_waits_come_longest_first) {
  const auto found = parse_lock_contention(
      " contended   total wait     max wait     avg wait         type   caller\n"
      "\n"
      "        23    591.09 us     40.58 us     25.70 us     spinlock   do_futex+0x183\n"
      "        72      1.14 ms    400.06 us     15.90 us     spinlock   wake_up_q+0x33\n"
      "         1       840 ns       840 ns       840 ns        mutex   \n");
  BOOST_TEST_REQUIRE(found.size() == 3u);
  BOOST_TEST(found[0].waits == 72);
  BOOST_TEST(found[0].microseconds == 1140);
  BOOST_TEST(found[0].caller == "wake_up_q+0x33");
  BOOST_TEST(found[1].microseconds == 591.09);
  BOOST_TEST(found[2].microseconds == 0.84);
  BOOST_TEST(parse_lock_contention("failed to open perf.data: No such file or directory\n").empty());
}

BOOST_AUTO_TEST_CASE(cachegrind_s_totals_are_those_at_the_end) {
  const auto counts = parse_cachegrind(
      "==6918== Cachegrind, a cache and branch-prediction profiler\n"
      "==6918== I   refs:      6,239,687\n"
      "==6918== D   refs:      2,446,594  (1,681,801 rd   + 764,793 wr)\n"
      "==6918== LL refs:          53,829  (   46,927 rd   +   6,902 wr)\n"
      "==6918== LL misses:        22,709  (   17,334 rd   +   5,375 wr)\n"
      "==6918== LL miss rate:        0.3% (      0.2%     +     0.7%  )\n");
  BOOST_TEST(counts.instructions == 6239687);
  BOOST_TEST(counts.references == 53829);
  BOOST_TEST(counts.misses == 22709);
  BOOST_CHECK_THROW(parse_cachegrind("valgrind: no such tool\n"), run_error);
}

BOOST_AUTO_TEST_CASE(what_perf_lacks_is_one_line_that_says_how_to_get_it) {
  const auto told = explain_perf(
      "Error:\nAccess to performance monitoring and observability operations is limited.\n"
      "Consider adjusting /proc/sys/kernel/perf_event_paranoid setting to open\n");
  BOOST_TEST(told.find("perf_event_paranoid=-1") != std::string::npos);
  BOOST_TEST(explain_perf(" Error: switch `b' is not available\n Usage: perf lock").find('\n') == std::string::npos);
  BOOST_TEST(explain_perf("") == "perf failed: without a word");
}

}  // namespace quintet::bench
