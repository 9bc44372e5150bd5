// SPDX-License-Identifier: BSL-1.0
// bus_test: messages are told apart, counts of what is amiss are right, and processes reach each other by each route.
#include "bus/bus_run.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <ostream>

using namespace quintet::bench;
using namespace std::chrono_literals;
using quintet::bus_route;

namespace quintet {

static std::ostream& operator<<(std::ostream& out, bus_route r) { return out << to_string(r); }

}  // namespace quintet

namespace {

std::string made(numbered_messages& from, std::uint64_t sender, std::uint64_t number) {
  return from.with(sender, number, [](quintet::bytes b) { return std::string(b); });
}

bus_settings settings(bus_route route, bool merging = true) {
  return {.traffic = {.route = route, .sizes = {8, 300}, .merging = merging, .seed = 7}, .cpus = {}, .duration = 20ms};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(bus)

BOOST_AUTO_TEST_CASE(a_message_is_the_same_in_each_process_and_no_other_one) {
  numbered_messages here({8, 128}, 5);
  const numbered_messages there({8, 128}, 5), others({8, 128}, 6);
  std::size_t bytes = 0;
  for (std::uint64_t number = 0; number < 5000; ++number) {
    const std::string message = made(here, 3, number);
    bytes += message.size();
    BOOST_TEST_REQUIRE(there.is(3, number, message));
    BOOST_TEST_REQUIRE(!there.is(3, number + 1, message));
    BOOST_TEST_REQUIRE(!there.is(4, number, message));
    BOOST_TEST_REQUIRE(message.size() >= 8U);
    BOOST_TEST_REQUIRE(message.size() <= 128U);
    std::string spoilt = message;
    spoilt.back() = static_cast<char>(spoilt.back() ^ 1);
    BOOST_TEST_REQUIRE(!there.is(3, number, spoilt));
  }
  BOOST_TEST(!others.is(3, 100, made(here, 3, 100)));
  BOOST_TEST(bytes > 60U * 5000);
  BOOST_TEST(bytes < 76U * 5000);
}

BOOST_AUTO_TEST_CASE(lost_doubled_and_wrong_messages_are_counted_for_each_sender) {
  numbered_messages all({8, 64}, 1);
  message_check check(all);
  for (const std::uint64_t number : {0U, 1U, 4U, 4U, 5U}) check.take(1, made(all, 1, number));
  BOOST_TEST(check.counts().lost == 2U);
  BOOST_TEST(check.counts().doubled == 1U);
  BOOST_TEST(check.counts().wrong == 0U);
  check.take(2, made(all, 2, 0));
  check.take(2, "short");
  check.take(2, made(all, 1, 2));
  check.take(2, made(all, 2, 3));
  BOOST_TEST(check.counts().wrong == 2U);
  BOOST_TEST(check.counts().lost == 2U);
  BOOST_TEST(check.counts().messages == 9U);
}

BOOST_AUTO_TEST_CASE(a_segment_counts_once_however_often_it_is_mapped) {
  segment_sum sum;
  sum.add(
      "7f0000000000-7f0000002000 rw-s 00000000 00:01 77 /memfd:quintet (deleted)\nRss: 8 kB\nPss: 4 kB\n"
      "7f0000002000-7f0000003000 rw-s 00002000 00:01 77 /memfd:quintet (deleted)\nPss: 4 kB\n"
      "7f0000004000-7f0000005000 rw-p 00000000 00:00 0 [heap]\nPss: 400 kB\n");
  sum.add(
      "7e0000000000-7e0000003000 rw-s 00000000 00:01 77 /memfd:quintet (deleted)\nPss: 8 kB\n"
      "7e0000008000-7e0000009000 rw-s 00000000 00:01 78 /memfd:quintet (deleted)\nPss: 0 kB\n");
  const segment_use total = sum.total();
  BOOST_TEST(total.count == 2U);
  BOOST_TEST(total.bytes == 0x4000U);
  BOOST_TEST(total.resident_bytes == 16384U);
}

BOOST_AUTO_TEST_CASE(the_receiver_has_a_cpu_that_no_sender_has) {
  const auto places = [](cpu_list cpus, unsigned senders, unsigned all_to_all) {
    return place_nodes({.traffic = {}, .senders = senders, .all_to_all = all_to_all, .cpus = std::move(cpus)});
  };
  BOOST_TEST((places({0, 1}, 1, 0) == std::vector<unsigned>{1, 0}));
  BOOST_TEST((places({0, 1}, 3, 0) == std::vector<unsigned>{1, 0, 0, 0}));
  BOOST_TEST((places({0, 1, 2, 3}, 4, 0) == std::vector<unsigned>{1, 0, 2, 3, 0}));
  BOOST_TEST((places({5}, 2, 0) == std::vector<unsigned>{5, 5, 5}));
  BOOST_TEST((places({0, 1}, 1, 3) == std::vector<unsigned>{0, 1, 0}));
}

namespace data = boost::unit_test::data;

BOOST_DATA_TEST_CASE(all_messages_arrive_by_each_route,
                     data::make({bus_route::shm, bus_route::unix_socket, bus_route::tcp}) * data::make({true, false}),
                     route, merging) {
  const bus_result r = run_bus(settings(route, merging));
  BOOST_TEST(r.messages > 0U);
  BOOST_TEST(r.checked >= r.messages);
  BOOST_TEST(r.bytes >= 8 * r.messages);
  BOOST_TEST(r.seconds > 0);
  BOOST_TEST(r.processes.size() == 2U);
  BOOST_TEST(r.processes[1].rss_bytes > 1e5);
  BOOST_TEST(r.segments.count == (route == bus_route::shm ? 1U : 0U));
}

BOOST_DATA_TEST_CASE(no_message_is_lost_on_the_way_through_a_relay,
                     data::make({bus_route::unix_socket, bus_route::tcp}), route) {
  bus_settings s = settings(route);
  s.traffic.sizes = {8, 16384};
  s.senders = 2;
  s.has_relay = true;
  const bus_result r = run_bus(s);
  BOOST_TEST(r.messages > 0U);
  BOOST_TEST(r.processes.size() == 4U);
  BOOST_TEST((r.processes[1].sends && r.processes[2].sends && !r.processes[3].sends && !r.processes[3].receives));
}

BOOST_AUTO_TEST_CASE(a_checksum_is_checked_and_its_time_counted) {
  numbered_messages sent({16, 128}, 5, find_hash("crc32"));
  const numbered_messages plain({16, 128}, 5), expected({16, 128}, 5, find_hash("crc32"));
  std::string message = made(sent, 3, 7);
  BOOST_TEST(expected.is(3, 7, message));
  BOOST_TEST(!plain.is(3, 7, message));
  for (const std::size_t at : {std::size_t{9}, message.size() - 1}) {
    std::string spoilt = message;
    spoilt[at] = static_cast<char>(spoilt[at] ^ 1);
    BOOST_TEST(!expected.is(3, 7, spoilt));
  }
  bus_settings s = settings(bus_route::shm);
  s.traffic.sizes = {16384, 16384};
  s.traffic.checksum = find_hash("map-crc32");
  // On a busy machine, a process may have no turn while it is measured.
  const auto has_some = [](const process_use& one) { return one.checksum_s > 0; };
  bus_result r = run_bus(s);
  for (; !std::ranges::all_of(r.processes, has_some) && s.duration < 10s; r = run_bus(s)) s.duration *= 2;
  for (const process_use& one : r.processes) BOOST_TEST(has_some(one));
}

BOOST_AUTO_TEST_CASE(several_senders_and_nodes_that_all_send_are_linked) {
  bus_settings some = settings(bus_route::unix_socket);
  some.senders = 3;
  BOOST_TEST(run_bus(some).processes.size() == 4U);
  bus_settings all = settings(bus_route::shm);
  all.all_to_all = 3;
  const bus_result r = run_bus(all);
  BOOST_TEST(r.processes.size() == 3U);
  BOOST_TEST(r.segments.count >= 1U);  // two or three: it is for the bus to decide
  BOOST_TEST(r.segments.resident_bytes > 0U);
}

BOOST_AUTO_TEST_SUITE_END()
