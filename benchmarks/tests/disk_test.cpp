// SPDX-License-Identifier: BSL-1.0
// disk_test.cpp: what /proc/PID/io and /proc/pressure/io say.
#include "load/server_sample.hpp"

#include <boost/test/unit_test.hpp>

#include <unistd.h>

using namespace quintet::bench;

namespace {

constexpr auto* process_io =
    "rchar: 5000\nwchar: 700\nsyscr: 9\nsyscw: 3\nread_bytes: 4096\nwrite_bytes: 123456789012\n"
    "cancelled_write_bytes: 8192\n";
constexpr auto* pressure =
    "some avg10=0.00 avg60=0.18 avg300=0.12 total=8469751\nfull avg10=0.00 avg60=0.14 avg300=0.10 total=7166944\n";

}  // namespace

BOOST_AUTO_TEST_SUITE(disk)

BOOST_AUTO_TEST_CASE(bytes_are_those_of_devices_and_written_ones_are_not_the_cancelled) {
  const auto found = parse_process_io(process_io).value();
  BOOST_TEST(found.read == 4096);
  BOOST_TEST(found.written == 123456789012.0);
  BOOST_TEST(!parse_process_io("rchar: 5000\nread_bytes: 4096\n").has_value());
  BOOST_TEST(!parse_process_io("").has_value());
}

BOOST_AUTO_TEST_CASE(a_stall_is_that_of_all) {
  BOOST_TEST(parse_disk_stall(pressure).value() == 7.166944);
  BOOST_TEST(!parse_disk_stall("some avg10=0.00 avg60=0.18 avg300=0.12 total=8469751\n").has_value());
  BOOST_TEST(!parse_disk_stall("").has_value());
}

BOOST_AUTO_TEST_CASE(who_is_gone_has_no_disks) {
  BOOST_TEST(sample_server(::getpid()).value().disk.has_value());
  constexpr pid_t beyond_all = 5'000'000;  // the kernel's numbers end at 4194304
  BOOST_TEST(!sample_server(beyond_all).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
