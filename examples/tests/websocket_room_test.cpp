// SPDX-License-Identifier: BSL-1.0
// websocket_room_test: a burst of messages goes to 100 guests (QUINTET_LONG=1: 1,000) in each model, in order, and
// messages that come together share a send to each guest.
#include "model_names.hpp"
#include "peers.hpp"
#include "websocket/room.hpp"
#include "websocket/service.hpp"

#include "../../net/tests/support/long_runs.hpp"

#include <quintet/threadmodels/server.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include <sys/resource.h>

namespace example::test {
namespace {

namespace bdata = boost::unit_test::data;
using quintet::model;

constexpr std::size_t bursts = 10, in_a_burst = 20;

std::size_t guests() { return quintet::test::is_long() ? 1000 : 100; }

void allow_descriptors() {
  rlimit most{};
  BOOST_REQUIRE(getrlimit(RLIMIT_NOFILE, &most) == 0);
  most.rlim_cur = most.rlim_max;
  BOOST_REQUIRE(setrlimit(RLIMIT_NOFILE, &most) == 0);
}

peer guest_at(std::uint16_t port) {
  peer p = peer::connected_to(port);
  p.send(
      "GET /chat HTTP/1.1\r\nHost: here\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n");
  std::string answer;
  while (!answer.ends_with("\r\n\r\n")) {
    const std::string more = p.receive_some(1);
    BOOST_REQUIRE(!more.empty());
    answer += more;
  }
  return p;
}

/// Texts of one length, in order over all bursts.
std::string text(std::size_t number) { return std::to_string(100'000 + number); }
/// A client's frame, with a mask of zeros; and a server's.
std::string masked(const std::string& t) { return std::string("\x81\x86\0\0\0\0", 6) + t; }
std::string plain(const std::string& t) { return "\x81\x06" + t; }

/// One guest sends all bursts; the next one once all have the last. Returns the sends for these.
std::size_t sends_for_bursts(quintet::server& server, std::vector<peer>& all) {
  const auto before = server.statistics().sends;
  for (std::size_t b = 0; b < bursts; ++b) {
    std::string burst, expected;
    for (std::size_t i = 0; i < in_a_burst; ++i) {
      burst += masked(text(b * in_a_burst + i));
      expected += plain(text(b * in_a_burst + i));
    }
    all[b % all.size()].send(burst);
    for (peer& p : all) BOOST_REQUIRE(p.receive(expected.size()) == expected);
  }
  return server.statistics().sends - before;
}

BOOST_DATA_TEST_CASE(a_burst_goes_to_all_and_shares_sends, bdata::make(quintet::all_models), kind) {
  allow_descriptors();
  websocket::room chatting;
  quintet::server server({.listen = {"127.0.0.1:0"}, .model = kind, .threads = {.loops = 2, .workers = {1, 2}}},
                         websocket::service(chatting));
  std::thread running([&] { server.run(); });
  std::size_t sends = 0;
  {
    std::vector<peer> all;
    for (std::size_t i = 0; i < guests(); ++i) all.push_back(guest_at(server.port()));
    sends = sends_for_bursts(server, all);
  }
  server.stop();
  running.join();
  const std::size_t messages = guests() * bursts * in_a_burst;
  BOOST_TEST_MESSAGE(kind << ": " << sends << " sends for " << messages << " messages");
  BOOST_TEST(sends <= messages);
  // One loop has read the whole burst when its timer fires. Those of other loops may fire within a burst.
  if (kind == model::single_reactor || kind == model::reactor_pool) BOOST_TEST(sends <= 2 * guests() * bursts);
  BOOST_TEST(server.statistics().handler_errors == 0u);
}

}  // namespace
}  // namespace example::test
