// SPDX-License-Identifier: BSL-1.0
// kv_input_total_test: requests that kv keeps for slow readers count toward max_input_total. Simulated.
// ctest: LIBS quintet::testing
#include "../../net/tests/support/world.hpp"

#include "kv/session.hpp"
#include "kv_requests.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace {

namespace bdata = boost::unit_test::data;
using quintet::testing::shape;
using quintet::testing::shapes;
using quintet::testing::world;

constexpr std::size_t plenty = 1U << 30U, total = 300'000;

quintet::connection_limits limits_of_kv() {
  quintet::connection_limits limits;
  limits.max_input = kv::max_input({});
  limits.max_output = kv::max_output({}, limits.high_watermark);
  return limits;
}

const std::string set_begun = "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$100000\r\n" + std::string(90'000, 'v');
const std::string set_ended = std::string(10'000, 'v') + "\r\n";

}  // namespace

// The session keeps postponed requests and the incomplete request behind them.
BOOST_DATA_TEST_CASE(requests_that_are_put_off_are_bounded, bdata::make(shapes), s) {
  kv::store store;
  store.set("large", std::string(mib, 'x'));
  world w(1, s, kv::session(store, {}), limits_of_kv(), plenty, {}, total);
  std::vector<int> clients;
  for (int i = 0; i < 10; ++i) {
    clients.push_back(w.connect());
    w.send(clients.back(), times(3, get_large) + set_begun);
    const std::string replies = w.received(clients.back());
    if (!w.ended(clients.back())) BOOST_TEST((replies == times(3, large_reply)));
  }
  const auto closed = std::ranges::count_if(clients, [&w](int c) { return w.ended(c); });
  BOOST_TEST(closed >= 7);  // at most three clients fit
  BOOST_TEST(closed < 10);
  for (const int c : clients) w.sim.network().shutdown_send(c);
  w.sim.run_until_quiet();
  const int modest = w.connect();
  for (int i = 0; i < 10; ++i) {  // memory of finished requests is released
    BOOST_TEST((w.converse(modest, times(3, get_large) + set_begun) == times(3, large_reply)));
    BOOST_TEST(w.converse(modest, set_ended) == "+OK\r\n");
  }
}
