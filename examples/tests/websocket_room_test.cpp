// SPDX-License-Identifier: BSL-1.0
// websocket_room_test: a burst of messages goes to 100 guests (QUINTET_LONG=1: 1,000) in each model, in order, and
// messages that come together share a send to each guest. On a network in memory: what waits for a guest is bounded,
// and message_timeout closes a client for a message that it never completes, and for nothing else.
// ctest: LIBS quintet::testing
#include "model_names.hpp"
#include "peers.hpp"
#include "websocket/room.hpp"
#include "websocket/service.hpp"

#include "../../net/tests/support/long_runs.hpp"
#include "../../net/tests/support/world.hpp"

#include <quintet/threadmodels/server.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include <sys/resource.h>

namespace example::test {
namespace {

namespace bdata = boost::unit_test::data;
using namespace std::chrono_literals;
using quintet::model;
using quintet::testing::shapes;

constexpr std::size_t bursts = 10, in_a_burst = 20;

std::size_t guests() { return quintet::test::is_long() ? 1000 : 100; }

void allow_descriptors() {
  rlimit most{};
  BOOST_REQUIRE(getrlimit(RLIMIT_NOFILE, &most) == 0);
  most.rlim_cur = most.rlim_max;
  BOOST_REQUIRE(setrlimit(RLIMIT_NOFILE, &most) == 0);
}

std::string upgrade(const std::string& path) {
  return "GET " + path +
         " HTTP/1.1\r\nHost: here\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
         "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
}

peer guest_at(std::uint16_t port) {
  peer p = peer::connected_to(port);
  p.send(upgrade("/chat"));
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
/// A client's frame, with a mask of zeros.
std::string frame(char first, const std::string& payload) {
  const std::size_t size = payload.size();
  const int of_length = size < 126 ? 0 : size < 65536 ? 2 : 8;  // bytes behind the second
  std::string f{first, static_cast<char>(0x80U | (of_length == 0 ? size : of_length == 2 ? 126 : 127))};
  for (int i = of_length; i-- > 0;) f += static_cast<char>(size >> (8 * i));
  return f + std::string(4, '\0') + payload;
}
constexpr char text_frame = '\x81', first_fragment = '\x01', pong = '\x8a';
/// A server's frame of such a text.
std::string plain(const std::string& t) { return "\x81\x06" + t; }

/// One guest sends all bursts; the next one once all have the last. Returns the sends for these.
std::size_t sends_for_bursts(quintet::server& server, std::vector<peer>& all) {
  const auto before = server.statistics().sends;
  for (std::size_t b = 0; b < bursts; ++b) {
    std::string burst, expected;
    for (std::size_t i = 0; i < in_a_burst; ++i) {
      burst += frame(text_frame, text(b * in_a_burst + i));
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

// ---- A network and a clock in memory --------------------------------------------------------------------------------

constexpr std::size_t mib = 1024 * 1024;

struct hall {
  explicit hall(quintet::testing::shape s, const quintet::connection_limits& limits)
      : world(1, s, websocket::service(chatting), limits) {}
  int client_of(const std::string& path) {
    const int c = world.connect();
    BOOST_REQUIRE(world.converse(c, upgrade(path)).starts_with("HTTP/1.1 101"));
    return c;
  }
  /// Returns how many `m` the client has received.
  std::size_t received(int client) {
    const std::string all = world.received(client);
    return static_cast<std::size_t>(std::ranges::count(all, 'm'));
  }
  /// Sends the bytes to the room, and returns as above.
  std::size_t say(int talker, const std::string& frames) {
    world.send(talker, frames);
    world.sim.advance(websocket::room::merge_time);
    return received(talker);
  }

  websocket::room chatting;
  quintet::testing::world<websocket::service> world;
};

const quintet::connection_limits small_output{.high_watermark = mib / 16, .low_watermark = mib / 64};

// The network and the connection hold less than one of these messages, so all of them wait.
BOOST_DATA_TEST_CASE(few_bytes_wait_for_a_guest, bdata::make(shapes) * bdata::make({4U, 5U}), s, messages) {
  hall h(s, small_output);
  const int talker = h.client_of("/chat"), deaf = h.client_of("/chat");
  for (unsigned i = 0; i < messages; ++i) BOOST_TEST(h.say(talker, frame(text_frame, std::string(mib, 'm'))) == mib);
  BOOST_TEST(websocket::guest::most_bytes_waiting == 4 * mib);
  if (messages == 4) {
    BOOST_TEST(h.received(deaf) == 4 * mib);
    BOOST_TEST(!h.world.ended(deaf));
  } else {
    BOOST_TEST(h.received(deaf) < mib);
    BOOST_TEST(h.world.ended(deaf));
  }
  BOOST_TEST(!h.world.ended(talker));
}

BOOST_DATA_TEST_CASE(few_messages_wait_for_a_guest, bdata::make(shapes), s) {
  hall h(s, small_output);
  const int talker = h.client_of("/chat"), deaf = h.client_of("/chat");
  constexpr std::size_t size = 1024, taken = 2 * (mib / 16) / size, messages = websocket::guest::most_waiting + taken;
  for (std::size_t i = 0; i < messages; ++i)
    BOOST_TEST(h.say(talker, frame(text_frame, std::string(size, 'm'))) == size);
  BOOST_TEST(h.received(deaf) <= taken * size);
  BOOST_TEST(h.world.ended(deaf));
  BOOST_TEST(!h.world.ended(talker));
}

BOOST_DATA_TEST_CASE(a_burst_closes_no_guest_that_reads, bdata::make(shapes), s) {
  hall h(s, small_output);
  const int talker = h.client_of("/chat"), listener = h.client_of("/chat");
  constexpr std::size_t messages = 2 * websocket::guest::most_waiting;
  std::string burst;
  for (std::size_t i = 0; i < messages; ++i) burst += frame(text_frame, "m");
  for (int i = 0; i < 3; ++i) {
    BOOST_TEST(h.say(talker, burst) == messages);
    BOOST_TEST(h.received(listener) == messages);
  }
  BOOST_TEST(h.world.statistics().closed == 0U);
}

const quintet::connection_limits two_seconds{.message_timeout = 2s};

/// The first bytes of a client, and those that it sends each second after them.
struct habit {
  const char* name;
  const char* path;
  std::string begins, goes_on;
  friend std::ostream& operator<<(std::ostream& out, const habit& h) { return out << h.name; }
};

const std::vector<habit> whole{
    {"pongs", "/echo", frame(pong, ""), frame(pong, "here")},
    {"pongs of a guest", "/chat", frame(pong, ""), frame(pong, "here")},
    {"messages of a guest", "/chat", frame(text_frame, "m"), frame(text_frame, "m")},
};

BOOST_DATA_TEST_CASE(whole_frames_end_no_connection, bdata::make(shapes) * bdata::make(whole), s, h) {
  hall of(s, two_seconds);
  const int client = of.client_of(h.path);
  of.world.send(client, h.begins);
  for (int second = 0; second < 12; ++second) {
    of.world.sim.advance(1s);
    of.world.send(client, h.goes_on);
  }
  BOOST_TEST(of.world.statistics().closed == 0U);
}

const std::string long_head = frame(text_frame, std::string(100, 'm')).substr(0, 6);
const std::vector<habit> in_parts{
    {"nothing more", "/echo", long_head, ""},
    {"a message by single bytes", "/echo", long_head, "m"},
    {"a message to the room by single bytes", "/chat", long_head, "m"},
    {"a pong by single bytes", "/echo", frame(pong, std::string(100, 'm')).substr(0, 6), "m"},
    {"pongs between fragments", "/echo", frame(first_fragment, "m"), frame(pong, "here")},
    {"pongs of a guest between fragments", "/chat", frame(first_fragment, "m"), frame(pong, "here")},
};

BOOST_DATA_TEST_CASE(a_message_that_never_becomes_whole_ends_the_connection,
                     bdata::make(shapes) * bdata::make(in_parts), s, h) {
  hall of(s, two_seconds);
  const int client = of.client_of(h.path);
  of.world.send(client, h.begins);
  of.world.sim.advance(1s);
  BOOST_TEST(of.world.statistics().closed == 0U);
  for (int second = 0; second < 2; ++second) {
    of.world.send(client, h.goes_on);
    of.world.sim.advance(1s);
  }
  BOOST_TEST(of.world.statistics().closed_message_timeout == 1U);
}

}  // namespace
}  // namespace example::test
