// SPDX-License-Identifier: BSL-1.0
// accept_trace_test.cpp: wake-ups to accept, from traces that strace has printed; what the server's own counters say.
#include "accept/accept_trace.hpp"

#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include "accept/measure_accept.hpp"
#include "compare/child_process.hpp"

namespace quintet::bench {

BOOST_AUTO_TEST_CASE(one_wakes_and_accepts_until_there_is_nobody) {
  const auto counts = count_accepting(
      "strace: Process 7 attached\n"
      "[pid 7] epoll_wait(12,  <unfinished ...>\n"
      "[pid 8] <... epoll_wait resumed>[...], 256, -1) = 1\n"
      "[pid 7] <... epoll_wait resumed>[...], 256, -1) = 1\n"
      "[pid 7] accept4(14, NULL, NULL, SOCK_CLOEXEC) = 16\n"
      "[pid 8] epoll_wait(9, [...], 256, -1) = 1\n"
      "[pid 7] accept4(14, NULL, NULL, SOCK_CLOEXEC) = 17\n"
      "[pid 7] accept4(14, NULL, NULL, SOCK_CLOEXEC) = -1 EAGAIN (Resource temporarily unavailable)\n"
      "[pid 7] epoll_wait(12,  <unfinished ...>\n");
  BOOST_TEST(counts.accepted == 2u);
  BOOST_TEST(counts.wakes == 1u);
}

BOOST_AUTO_TEST_CASE(a_herd_counts_although_one_is_served) {
  const auto counts = count_accepting(
      "[pid 7] <... epoll_wait resumed>[...], 256, -1) = 1\n"
      "[pid 8] <... epoll_pwait resumed>[...], 256, -1, NULL, 8) = 1\n"
      "[pid 7] accept4(14, NULL, NULL, SOCK_CLOEXEC <unfinished ...>\n"
      "[pid 8] accept4(14, NULL, NULL, SOCK_CLOEXEC) = -1 EAGAIN (Resource temporarily unavailable)\n"
      "[pid 7] <... accept4 resumed>) = 16\n"
      "[pid 9] epoll_wait(9, [], 256, 5) = 0\n"
      "[pid 9] accept4(14, NULL, NULL, SOCK_CLOEXEC) = -1 EAGAIN (Resource temporarily unavailable)\n");
  BOOST_TEST(counts.accepted == 1u);
  BOOST_TEST(counts.wakes == 2u);  // the third was awake already
}

BOOST_AUTO_TEST_CASE(a_process_with_one_thread_has_no_prefix) {
  const auto counts = count_accepting("epoll_wait(5, [...], 512, -1) = 1\naccept4(3, NULL, NULL, SOCK_CLOEXEC) = 6\n");
  BOOST_TEST(counts.accepted == 1u);
  BOOST_TEST(counts.wakes == 1u);
}

static run_result figures_of(std::string_view counted, const char* strategy = "reuse_port") {
  run_result out;
  out.accept = strategy;
  take_accept_figures(out, boost::json::parse({counted.data(), counted.size()}).as_object());
  return out;
}

BOOST_AUTO_TEST_CASE(locality_and_balance_follow_from_the_counters) {
  const auto r = figures_of(R"({"accepted": 100, "accepted_locally": 99, "accepted_by_each": [75, 25]})");
  BOOST_TEST(r.accepted_locally.value() == 0.99);
  BOOST_TEST(r.accept_balance.value() == 1.5);
  const auto main = figures_of(R"({"accepted": 9, "accepted_locally": 3, "accepted_by_each": [9]})", "main_reactor");
  BOOST_TEST(!main.accept_balance.has_value());
  BOOST_TEST(!main.accepted_locally.has_value());
  BOOST_CHECK_THROW(figures_of(R"({"accepted": 0, "accepted_locally": 0})"), run_error);
  BOOST_CHECK_THROW(figures_of(R"({"accepted": 9})"), run_error);
  BOOST_CHECK_THROW(figures_of(R"({"accepted": 9, "accepted_locally": 3})"), run_error);
}

}  // namespace quintet::bench
