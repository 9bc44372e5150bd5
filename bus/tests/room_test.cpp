// SPDX-License-Identifier: BSL-1.0
// room_test: a sender that was refused learns when it can go on, however its messages end.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "raw_bus_peer.hpp"

#include <array>
#include <chrono>
#include <ostream>
#include <string_view>
#include <utility>

namespace quintet::test {
namespace {

using namespace std::chrono_literals;
using bus::frame_type;
namespace data = boost::unit_test::data;

/// What becomes of the messages of a full queue.
struct ending {
  std::string_view name;
  void (*happens)(raw_world&);
  error_code with_fail = {}, with_send_again = {};  // of each completion
  bool ends_link = false;
};
std::ostream& operator<<(std::ostream& out, const ending& e) { return out << e.name; }

void acknowledge_all(raw_world& w) { w.send(control(frame_type::acknowledge, w.node.node.statistics().sent)); }
void restart(raw_world& w) {
  w.connect();
  w.send(hello_frame(9, 1, 8) + control(frame_type::start, 1));
  BOOST_TEST(w.until([&] { return w.node.node.statistics().peer_restarts == 1; }));
  if (w.node.node.statistics().failed == 0) acknowledge_all(w);  // else nothing comes that would have to be
}
void reconnect(raw_world& w) {
  bus::hello h = usual_hello();
  h.known_epoch = w.hello()->epoch;
  h.received = w.node.node.statistics().sent;
  w.connect();
  w.send(text(h) + control(frame_type::start, 1));
}
void vanish(raw_world& w) { w.fd = {}; }
void disconnect(raw_world& w) { w.node.node.disconnect(9); }

const error_code reset = system_error_code(ECONNRESET), gone = system_error_code(ETIMEDOUT),
                 cancelled = system_error_code(ECANCELED);
const auto endings = std::to_array<ending>({{"acknowledged", acknowledge_all},
                                            {"the peer restarts", restart, reset},
                                            {"the peer connects again", reconnect},
                                            {"the peer vanishes", vanish, gone, gone, true},
                                            {"disconnect", disconnect, cancelled, cancelled, true}});

/// Sends until the queue is full. A completion sends once more: the result of that says what a sender is told.
struct sender {
  explicit sender(raw_world& w) : world(w) {
    bool ran = false;
    w.node.node.loop().post([&] {
      while (!send()) ++taken;
      ran = true;
    });
    BOOST_TEST(w.until([&] { return ran; }));
  }
  error_code send() {
    return world.node.node.send(9, std::string(1000, 'x'), [this](error_code why) {
      ++completed;
      result = why;
      if (is_first) again = world.node.node.send(9, "again", [this](error_code) { ++completed; });
      if (std::exchange(is_first, false) && !again) ++taken;
    });
  }

  raw_world& world;
  std::size_t taken = 0, completed = 0;
  bool is_first = true;
  error_code result, again;
};

BOOST_DATA_TEST_CASE(a_sender_that_was_refused_is_told,
                     data::make(endings) * data::make({bus_restart_policy::send_again, bus_restart_policy::fail}), end,
                     policy) {
  raw_world w({.max_unacknowledged = 128 * 1024, .unreachable_after = 20ms, .on_restart = policy});
  w.connect();
  w.send(greeting);
  BOOST_TEST(w.until([&] { return w.node.routes.size() == 1; }));
  sender s(w);
  BOOST_TEST(s.taken > 100U);
  BOOST_TEST(w.node.rooms == 0U);
  end.happens(w);
  BOOST_TEST(w.until([&] { return w.node.rooms > 0 && s.completed >= 100; }));
  BOOST_TEST(w.node.rooms == 1U);
  BOOST_TEST((s.result == (policy == bus_restart_policy::fail ? end.with_fail : end.with_send_again)));
  // Either the message is in the queue, or the sender knows that it is not.
  BOOST_TEST((s.again == (end.ends_link ? system_error_code(EHOSTUNREACH) : error_code())));
  w.node.finish();
  BOOST_TEST(s.completed == s.taken);
}

BOOST_AUTO_TEST_CASE(what_a_completion_sends_at_the_end_of_a_node_is_refused) {
  raw_world w({.max_unacknowledged = 128 * 1024});
  w.connect();
  w.send(greeting);
  BOOST_TEST(w.until([&] { return w.node.routes.size() == 1; }));
  sender s(w);
  w.node.finish();
  BOOST_TEST(s.again == error_code(errc::stopped));
  BOOST_TEST(s.completed == s.taken);
  BOOST_TEST(w.node.rooms == 0U);
  bool called = false;
  BOOST_TEST(w.node.node.send(9, "later", [&](error_code) { called = true; }) == error_code(errc::stopped));
  BOOST_TEST(!called);
}

// The limit is one of the node: the receipts are of messages to any destination.
BOOST_DATA_TEST_CASE(room_for_receipts_is_reported_too, data::make({true, false}), is_answered) {
  noting_node a({.id = 1, .parent = 2, .max_receipts = 8, .receipt_timeout = is_answered ? 10s : 20ms}), b({.id = 2}),
      c({.id = 3});
  a.node.connect(2);
  b.node.connect(3);
  const std::vector<noting_node*> all{&a, &b, &c};
  BOOST_TEST(drive_until(all, [&] { return a.node.route_of(2) && c.node.route_of(2); }));
  int completed = 0, sent = 0;
  const std::uint64_t to = is_answered ? 3 : 4;
  if (!is_answered) b.node.connect(4);  // which does not exist: the messages wait there
  a.node.loop().post([&] {
    while (!a.node.send(to, "forward", [&](error_code) { ++completed; })) ++sent;
  });
  BOOST_TEST(drive_until(all, [&] { return a.rooms > 0 && completed == sent; }));
  BOOST_TEST(sent == 8);
  BOOST_TEST(a.rooms <= 2U);
}

}  // namespace
}  // namespace quintet::test
