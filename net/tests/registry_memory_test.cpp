// SPDX-License-Identifier: BSL-1.0
// registry_memory_test: messages that are never refused need no memory for each call.
#include "counted_new.hpp"
#include "world.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>

namespace quintet::testing {
namespace {

constexpr int calls = 10'000;

struct ignoring {
  void operator()(connection&, bytes) const {}
};

// The loop does not run meanwhile, like one whose handler is busy.
BOOST_TEST_DECORATOR(*boost::unit_test::precondition(test::can_count))
BOOST_DATA_TEST_CASE(a_busy_connection_can_be_ended_again_and_again,
                     boost::unit_test::data::make(shapes) * boost::unit_test::data::xrange(2), s, aborts) {
  world<ignoring> w(1, s, ignoring{});
  const int client = w.connect();
  connection_registry& all = w.server->connections();
  const connection_id id = all.all().at(0);
  const std::size_t before = test::heap_bytes;
  for (int i = 0; i < calls; ++i) BOOST_REQUIRE(!(aborts ? all.abort(id) : all.close(id)));
  BOOST_TEST(test::heap_bytes - before < 1000U);
  w.sim.run_until_quiet();
  BOOST_TEST(w.ended(client));
}

}  // namespace
}  // namespace quintet::testing
