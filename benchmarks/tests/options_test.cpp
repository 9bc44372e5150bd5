// SPDX-License-Identifier: BSL-1.0
// options_test.cpp: values on the command line: what is taken, and what is refused.
#include "options.hpp"

#include <boost/test/unit_test.hpp>

using namespace quintet::bench;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(options)

BOOST_AUTO_TEST_CASE(durations) {
  BOOST_TEST((parse_duration("5") == 5s));
  BOOST_TEST((parse_duration("0.5") == 500ms));
  BOOST_TEST((parse_duration("5s") == 5s));
  BOOST_TEST((parse_duration("200us") == 200us));
  BOOST_TEST((parse_duration("20ms") == 20ms));
  BOOST_TEST((parse_duration("2min") == 2min));
  BOOST_TEST((parse_duration("0") == 0s));
  for (const char* wrong : {"", "s", "-1", "1h", "1 s", "1ss", "nan", "inf", "1e300"})
    BOOST_CHECK_THROW(parse_duration(wrong), usage_error);
}

BOOST_AUTO_TEST_CASE(numbers) {
  BOOST_TEST(parse_number("7", 1, 10) == 7u);
  for (const char* wrong : {"", "0", "11", "-1", "+1", "7x", " 7", "7.0", "99999999999999999999"})
    BOOST_CHECK_THROW(parse_number(wrong, 1, 10), usage_error);
}

BOOST_AUTO_TEST_CASE(sizes) {
  BOOST_TEST(parse_size("8", 8, 65536) == 8u);
  BOOST_TEST(parse_size("4k", 8, 65536) == 4096u);
  BOOST_TEST(parse_size("64k", 8, 65536) == 65536u);
  BOOST_TEST(parse_size("2m", 8, 64u << 20) == 2097152u);
  for (const char* wrong : {"", "k", "7", "65537", "65k", "1m", "4K", "4kb", "-8", "0.5k", "99999999999999999999k"})
    BOOST_CHECK_THROW(parse_size(wrong, 8, 65536), usage_error);
}

BOOST_AUTO_TEST_CASE(endpoints) {
  BOOST_TEST(parse_endpoint("127.0.0.1:7007").host == "127.0.0.1");
  BOOST_TEST(parse_endpoint("127.0.0.1:7007").port == 7007);
  BOOST_TEST(parse_endpoint("[::1]:80").host == "::1");
  for (const char* wrong : {"", ":80", "host", "host:", "host:0", "host:65536", "host:80x"})
    BOOST_CHECK_THROW(parse_endpoint(wrong), usage_error);
}

BOOST_AUTO_TEST_CASE(targets) {
  for (const char* same : {"127.0.0.1:7007", "[::1]:80", "unix:/run/echo", "unix:@echo", "shm:/run/echo"})
    BOOST_TEST(to_string(parse_target(same)) == same);
  BOOST_TEST(!parse_target("unix:/run/echo").shared_memory);
  BOOST_TEST(parse_target("shm:/run/echo").shared_memory);
  BOOST_TEST(parse_target("unix:" + std::string(103, 'x')).path.size() == 103u);  // of 108, .shm and a NUL follow
  for (const std::string& wrong : {std::string("unix:"), std::string("shm:"), "unix:" + std::string(104, 'x'),
                                   std::string("host"), std::string("shm")})
    BOOST_CHECK_THROW(parse_target(wrong), usage_error);
}

BOOST_AUTO_TEST_CASE(ranges) {
  BOOST_TEST(parse_range("1..4", 10'000).min == 1u);
  BOOST_TEST(parse_range("1..4", 10'000).max == 4u);
  BOOST_TEST(parse_range("3", 10'000).min == 3u);
  BOOST_TEST(parse_range("3", 10'000).max == 3u);
  for (const char* wrong : {"", "..", "1..", "..4", "4..1", "0..4", "1...4", "1-4"})
    BOOST_CHECK_THROW(parse_range(wrong, 10'000), usage_error);
}

BOOST_AUTO_TEST_CASE(cpus_must_be_usable) {
  const auto allowed = allowed_cpus();
  BOOST_REQUIRE(!allowed.empty());
  BOOST_TEST((parse_cpus(std::to_string(allowed.front())) == cpu_list{allowed.front()}));
  BOOST_TEST((parse_cpus(std::to_string(allowed.front()) + "-" + std::to_string(allowed.front())).size() == 1u));
  for (const char* wrong : {"", ",", "x", "1-0", "0-99999999", "1023"}) {
    BOOST_CHECK_THROW(parse_cpus(wrong), usage_error);
  }
}

BOOST_AUTO_TEST_SUITE_END()
