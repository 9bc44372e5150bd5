// SPDX-License-Identifier: BSL-1.0
// receives_test: receive calls for each framed message: at most one, far fewer in a pipeline, two without a read cache.
// ctest: EACH_ENGINE
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"

#include <quintet/net/framed.hpp>
#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/server.hpp>

#include <cstddef>
#include <string>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;

using wire_format = length_prefix<2>;
constexpr wire_format wire;
constexpr std::size_t prefix_bytes = 2;
constexpr int rounds = 200;
const std::string message = std::string("\0\x0b", prefix_bytes) + "Hello World";

struct echo {
  void operator()(connection& c, bytes in) const { (void)write_message(c, wire, in); }
};
awaitable<> echo_messages(stream& s) {
  wire_format reads = wire;
  while (const auto in = co_await s.read_message(reads)) (void)write_message(s, wire, *in);
}

/// Converses with `depth` messages in flight. Returns the number of receive calls for each message.
template <class Handler>
double receives_per_message(config c, const Handler& handler, std::size_t depth) {
  c.threads = {.loops = 2, .workers = {2, 2}};
  running<server> srv(c, handler);
  client peer(srv->port());
  std::string requests;
  for (std::size_t i = 0; i < depth; ++i) requests += message;
  for (int i = 0; i < rounds; ++i) {
    peer.send(requests);
    BOOST_REQUIRE((peer.receive(requests.size()) == requests));
  }
  return static_cast<double>(srv->statistics().receives) / (rounds * static_cast<double>(depth));
}

double receives_per_message(combination under, std::size_t depth) {
  const config c{.model = under.kind};
  return under.is_coroutine() ? receives_per_message(c, &echo_messages, depth)
                              : receives_per_message(c, framed(wire, echo()), depth);
}

}  // namespace

BOOST_DATA_TEST_CASE(a_message_alone_costs_at_most_one_receive, data::make(all_combinations), under) {
  BOOST_TEST(receives_per_message(under, 1) <= 1.0);
}

BOOST_DATA_TEST_CASE(of_sixteen_in_flight_each_costs_far_less, data::make(all_combinations), under) {
  BOOST_TEST(receives_per_message(under, 16) <= 0.25);
}

// A call for the prefix, and one for exactly the rest. A pool may have the baton while the rest arrives, in small
// pieces.
BOOST_DATA_TEST_CASE(with_room_for_a_prefix_only_a_message_costs_two, data::make(all_models), kind) {
  const config c{.model = kind, .engine = engine_kind::epoll, .advanced = {.loop = {.receive_size = prefix_bytes}}};
  const double each = receives_per_message(c, framed(wire, echo()), 1);
  if (is_pooled(kind))
    BOOST_TEST(each >= 2.0);
  else
    BOOST_TEST(each == 2.0);
}

}  // namespace quintet::test
