// SPDX-License-Identifier: BSL-1.0
// window_probes_test.cpp: the counters of /proc/net/netstat are found by name, in the group that was asked for.
#include "stress/window_probes.hpp"

#include <boost/test/unit_test.hpp>

#include <string_view>

namespace quintet::bench {
namespace {

constexpr std::string_view netstat =
    "TcpExt: SyncookiesSent TCPWinProbe TCPKeepAlive\n"
    "TcpExt: 1 73500 18446744073709551615\n"
    "IpExt: InNoRoutes TCPWinProbe\n"
    "IpExt: 4 5\n";

BOOST_AUTO_TEST_SUITE(window_probes)

BOOST_AUTO_TEST_CASE(a_counter_is_found_by_its_name_and_group) {
  BOOST_TEST(parse_netstat(netstat, "TcpExt", "TCPWinProbe").value() == 73500);
  BOOST_TEST(parse_netstat(netstat, "IpExt", "TCPWinProbe").value() == 5);
  BOOST_TEST(parse_netstat(netstat, "TcpExt", "TCPKeepAlive").value() == 18446744073709551615.0);
}

BOOST_AUTO_TEST_CASE(what_is_not_there_is_nothing) {
  BOOST_TEST(!parse_netstat(netstat, "TcpExt", "InNoRoutes"));
  BOOST_TEST(!parse_netstat(netstat, "MPTcpExt", "TCPWinProbe"));
  BOOST_TEST(!parse_netstat("", "TcpExt", "TCPWinProbe"));
  BOOST_TEST(!parse_netstat("TcpExt: A TCPWinProbe\nTcpExt: 1\n", "TcpExt", "TCPWinProbe"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace quintet::bench
