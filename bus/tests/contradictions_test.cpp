// SPDX-License-Identifier: BSL-1.0
// contradictions_test: a frame that cannot be right, or comes too late, does not harm a link that works.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "raw_bus_peer.hpp"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace quintet::test {
namespace {

using bus::frame_type;
namespace data = boost::unit_test::data;

/// Returns a hello that knows the node's link and has received what the node never sent.
bus::hello impossible_hello(const raw_connection& known, std::uint64_t epoch) {
  bus::hello h = usual_hello(epoch);
  h.target = known.hello()->id;
  h.known_epoch = known.hello()->epoch;
  h.received = 5;
  return h;
}

/// A node that connects to a raw peer, which has accepted the connection and received the hello.
struct dialing_world : raw_world {
  explicit dialing_world(std::uint64_t id) : raw_world({.id = id}) {
    node.node.connect(9, {at.text()});
    accept();
  }
  void accept() {
    dialed = {};
    BOOST_TEST(until(dialed, [&] {
      if (!dialed.fd) dialed = at.accept();
      return dialed.hello().has_value();
    }));
  }
  void answer() {
    bus::hello h = usual_hello();
    h.target = node.node.id();
    dialed.send(text(h) + control(frame_type::start, 1));
    BOOST_TEST(until(dialed, [&] { return node.node.route_of(9) == bus_route::tcp; }));
  }
  void connect_with(const bus::hello& h) {
    connect();
    send(text(h));
  }
  /// The node's link works in both directions on the connection that the node has made.
  void converse() {
    BOOST_TEST(!node.node.send(9, "from the node"));
    BOOST_TEST(until(dialed, [&] { return dialed.has("from the node"); }));
    dialed.send(message_frame(1, "to the node"));
    BOOST_TEST(until(dialed, [&] { return node.count == 1; }));
    BOOST_TEST(!dialed.is_closed);
  }

  raw_listener at;
  raw_connection dialed;
};

BOOST_DATA_TEST_CASE(a_hello_that_contradicts_the_link_leaves_its_connection, data::make({7U, 8U}), epoch) {
  dialing_world w(1);
  w.answer();
  w.connect_with(impossible_hello(w.dialed, epoch));
  BOOST_TEST(w.until_closed());
  BOOST_TEST(w.node.node.statistics().malformed == 1U);
  BOOST_TEST((w.node.node.route_of(9) == bus_route::tcp));
  w.converse();
}

// The node's number is larger, so it would take the peer's connection instead of its own.
BOOST_AUTO_TEST_CASE(a_hello_that_contradicts_the_link_leaves_its_attempt_to_connect) {
  dialing_world w(20);
  w.connect_with(impossible_hello(w.dialed, 7));
  BOOST_TEST(w.until_closed());
  BOOST_TEST(w.node.node.statistics().malformed == 1U);
  w.answer();
  w.converse();
}

BOOST_AUTO_TEST_CASE(an_answer_that_contradicts_the_link_is_followed_by_another_attempt) {
  dialing_world w(1);
  w.dialed.send(text(impossible_hello(w.dialed, 7)));
  BOOST_TEST(w.until(w.dialed, [&] { return w.dialed.is_closed; }));
  w.accept();
  w.answer();
  w.converse();
}

BOOST_AUTO_TEST_CASE(a_hello_that_is_refused_makes_no_link) {
  raw_world w({.max_peers = 1});
  for (bus::hello bad : {usual_hello(0), usual_hello()}) {
    if (bad.epoch != 0) bad.id = 0;
    w.connect();
    w.send(text(bad));
    BOOST_TEST(w.until_closed());
  }
  w.connect();
  bus::hello other = usual_hello();
  other.id = 5;
  w.send(text(other) + control(frame_type::start, 1) + message_frame(1, "there is a place"));
  BOOST_TEST(w.until([&] { return w.node.count == 1; }));
}

// A hello that has waited in a socket for longer than its sender has lived: its sender cannot answer.
BOOST_DATA_TEST_CASE(a_late_hello_of_a_predecessor_changes_nothing,
                     data::make({bus_restart_policy::send_again, bus_restart_policy::fail}), policy) {
  raw_world w({.on_restart = policy});
  w.connect();
  w.send(greeting);
  BOOST_TEST(w.until([&] { return w.node.routes.size() == 1; }));
  w.connect();
  w.send(hello_frame(9, 1, 8) + control(frame_type::start, 1) + message_frame(1, "one"));
  BOOST_TEST(w.until([&] { return w.node.count == 1; }));
  BOOST_TEST(w.node.node.statistics().peer_restarts == 1U);
  const std::size_t routes = w.node.routes.size();
  int completed = 0;
  BOOST_TEST(!w.node.node.send(9, "for the successor", [&](error_code why) { completed += why ? 100 : 1; }));
  {
    raw_connection late = w.another();
    late.send(hello_frame(9, 1, 7));
    BOOST_TEST(w.until(late, [&] { return late.hello().has_value() || w.is_closed; }));
  }
  w.send(message_frame(2, "two") + control(frame_type::acknowledge, 1));
  BOOST_TEST(w.until([&] { return (w.node.count == 2 && completed != 0) || w.is_closed; }));
  BOOST_TEST(completed == 1);
  BOOST_TEST(w.node.node.statistics().peer_restarts == 1U);
  BOOST_TEST(w.node.routes.size() == routes);
}

BOOST_AUTO_TEST_CASE(a_peer_that_greets_and_never_starts_is_closed) {
  raw_world w({.connecting = {.timeout = std::chrono::milliseconds(20)}});
  w.connect();
  w.send(hello_frame(9, 1));
  BOOST_TEST(w.until_closed());
}

BOOST_AUTO_TEST_CASE(a_routed_message_without_a_meaning_is_not_forwarded) {
  raw_world w;
  noting_node other({.id = 5});
  other.node.connect(1, w.node.node.addresses());
  BOOST_TEST(drive_until({&w.node, &other}, [&] { return w.node.node.route_of(5).has_value(); }));
  const auto route = bus::encode(bus::routing{9, 5, 1});
  std::string receipt(bus::prefix_size + bus::header_size, '\0');
  receipt.append(route.data(), route.size()) += "no number";
  bus::seal(receipt.data(), {frame_type::routed, bus::is_receipt, 0, 1}, route.size() + 9);
  w.connect();
  w.send(greeting + receipt);
  BOOST_TEST(w.until_closed());
  BOOST_TEST(w.node.node.statistics().malformed == 1U);
  BOOST_TEST(w.node.node.statistics().forwarded == 0U);
}

// One line for each phase of a wire and each of its checks there.
BOOST_AUTO_TEST_CASE(the_log_says_what_a_peer_has_sent_wrongly) {
  std::string last;
  raw_world w({.log = [&](const log_event& e) { last = e.what; }});
  bus::hello other = usual_hello();
  other.max_message = 7;
  const std::string new_epoch = hello_frame(9, 1, 8), start = control(frame_type::start, 1);
  const std::string early = "node 9: received a second start frame, or another frame before the first";
  const std::vector<std::pair<std::string, std::string>> wrong{
      {start, "an unknown node: received a first frame that is no hello; all nodes need the same version of Quintet"},
      {message_frame(1, "x"), "an unknown node: received a message before the start frame"},
      {text(other), "an unknown node: received a hello with another max_message; all nodes need the same"},
      {hello_frame(9, 3),
       "an unknown node: received a hello for another node; check the addresses that it connects to"},
      {hello_frame(9, 1) + control(frame_type::acknowledge, 0), early},
      {hello_frame(9, 1) + message_frame(1, "x"), "node 9: received a message before the start frame"},
      {new_epoch + message_frame(1, "x"), "node 9: received a message before the start frame"},
      {new_epoch + control(frame_type::resend, 1), early},
      {greeting + start, early},
      {greeting + message_frame(2, "x"), "node 9: received a message whose predecessor is missing"},
      {greeting + control(frame_type::resend, 5), "node 9: received a request for a message that is not queued"},
      {greeting + control(frame_type::acknowledge, 5),
       "node 9: received an acknowledgement of a message that was not sent"}};
  for (const auto& [sent, said] : wrong) {
    w.connect();
    w.send(sent);
    BOOST_TEST(w.until_closed());
    BOOST_TEST(last.starts_with("closed a bus connection with " + said), last);
  }
  BOOST_TEST(w.node.node.statistics().malformed == wrong.size());
}

// ---- Lost requests --------------------------------------------------------------------------------------------------

// The node asks for message 1, and its request is damaged: the peer asks the node in turn.
BOOST_AUTO_TEST_CASE(a_request_that_was_lost_is_repeated) {
  raw_world w({.max_checksum_errors = 4});
  w.connect();
  w.send(greeting + damaged(message_frame(1, "one")));
  BOOST_TEST(w.until([&] { return w.has(control(frame_type::resend, 1)); }));
  w.send(control(frame_type::resend, 1));
  BOOST_TEST(w.until([&] { return w.has(control(frame_type::resend, 1, bus::is_repeated)); }));
  w.received.clear();
  w.send(control(frame_type::resend, 1, bus::is_repeated));  // asks for no repetition: it would never end
  w.send(message_frame(1, "one"));
  BOOST_TEST(w.until([&] { return w.node.count == 1 && w.has(control(frame_type::acknowledge, 1)); }));
  BOOST_TEST(w.count(control(frame_type::resend, 1, bus::is_repeated)) == 0U);
  BOOST_TEST(!w.is_closed);
}

BOOST_AUTO_TEST_CASE(a_damaged_request_is_answered_by_a_request) {
  raw_world w({.max_checksum_errors = 4});
  w.connect();
  w.send(greeting);
  BOOST_TEST(w.until([&] { return w.node.routes.size() == 1; }));
  w.send(damaged(control(frame_type::resend, 1)));
  BOOST_TEST(w.until([&] { return w.has(control(frame_type::resend, 1)); }));
}

}  // namespace
}  // namespace quintet::test
