// SPDX-License-Identifier: BSL-1.0
// traffic_test.cpp: what /proc/net/dev says, which interface is on the way, and what the bottleneck is called.
#include "load/traffic.hpp"

#include "bottleneck.hpp"
#include "load/connect.hpp"

#include <boost/test/unit_test.hpp>

using namespace quintet::bench;

namespace {

constexpr auto* net_dev =
    "Inter-|   Receive                                                |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier "
    "compressed\n"
    "    lo: 6000 100 0 0 0 0 0 0 6000 100 0 0 0 0 0 0\n"
    "  eth0:123456789012 8 1 2 3 4 5 6 4000 20 0 0 0 0 0 0\n"
    " broken: 5 5\n";

}  // namespace

BOOST_AUTO_TEST_SUITE(network_traffic)

BOOST_AUTO_TEST_CASE(an_interface_is_found_by_its_whole_name) {
  const auto lo = parse_net_dev(net_dev, "lo").value();
  BOOST_TEST(lo.received_bytes == 6000);
  BOOST_TEST(lo.sent_packets == 100);
  const auto ether = parse_net_dev(net_dev, "eth0").value();  // no blank behind its colon
  BOOST_TEST(ether.received_bytes == 123456789012.0);
  BOOST_TEST(ether.received_packets == 8);
  BOOST_TEST(ether.sent_bytes == 4000);
  BOOST_TEST(ether.sent_packets == 20);
  for (const char* none : {"eth", "o", "eth01", "broken", "face", ""}) BOOST_TEST(!parse_net_dev(net_dev, none), none);
  BOOST_TEST(!parse_net_dev("", "lo").has_value());
}

BOOST_AUTO_TEST_CASE(what_lo_sends_and_receives_is_the_same_and_counts_once) {
  const interface_counts before{1000, 10, 1000, 10}, after{7000, 110, 9000, 120};
  const network_use lo = use_between("lo", before, after);
  BOOST_TEST(lo.bytes == 6000);
  BOOST_TEST(lo.packets == 100);
  const network_use ether = use_between("eth0", before, after);
  BOOST_TEST(ether.bytes == 14'000);
  BOOST_TEST(ether.packets == 210);
  BOOST_TEST(ether.busier_way_bytes == 8000);
}

BOOST_AUTO_TEST_CASE(this_machine_is_reached_over_lo) {
  for (const char* host : {"127.0.0.1", "127.0.3.4"})
    BOOST_TEST(interface_towards(resolve({.host = host, .port = 7})) == "lo");
  BOOST_TEST(read_interface("lo").has_value());
  BOOST_TEST(interface_towards(resolve({.path = "/run/echo"})) == "");
  BOOST_TEST(line_speed("lo") == 0);
}

BOOST_AUTO_TEST_CASE(a_bottleneck_is_what_is_busy_and_nobody_where_it_is_not_known) {
  using maybe = std::optional<double>;
  const auto named = [](maybe client, maybe server, maybe machine, maybe network, maybe disk = {}) {
    return bottleneck_of({client, server, machine, network, disk}).value_or("not known");
  };
  BOOST_TEST(named(0.99, 0.99, 0.99, 0.1) == "client_cpu");
  BOOST_TEST(named(0.5, 0.99, 0.99, {}) == "server_cpu");
  BOOST_TEST(named(0.5, 0.5, 0.99, {}) == "machine_cpu");
  BOOST_TEST(named(0.99, 0.99, 0.99, 0.96) == "network");
  BOOST_TEST(named(0.5, 0.99, 0.99, {}, 0.96) == "disk");
  BOOST_TEST(named(0.5, 0.99, 0.99, {}, 0.94) == "server_cpu");
  BOOST_TEST(named(0.5, 0.5, 0.6, {}) == "none");
  BOOST_TEST(named(0.5, {}, 0.6, {}) == "not known");
  BOOST_TEST(named({}, 0.5, 0.6, {}) == "not known");
  BOOST_TEST(named(0.99, {}, {}, {}) == "client_cpu");
}

BOOST_AUTO_TEST_SUITE_END()
