// SPDX-License-Identifier: BSL-1.0
// proxy_names_test: one of two upstreams has a name that hangs. In each model, the other one serves every client.
#include "../../net/tests/support/silent_names.hpp"
#include "model_names.hpp"
#include "peers.hpp"
#include "program.hpp"

#include <quintet/threadmodels/model.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace example::test {
namespace {

using quintet::testing::silent_names;
namespace bdata = boost::unit_test::data;

/// Returns how many of 12 clients got no answer; 50 if the proxy does not end while a name hangs.
int unserved_clients(quintet::model m) try {
  const program behind("echo", {});
  program proxy("proxy",
                {"--model", std::string(to_string(m)), "--connect-timeout-ms", "300", "--upstream",
                 std::string(silent_names::name) + ":80", "--upstream", "localhost:" + std::to_string(behind.port())});
  std::vector<peer> clients;
  for (int i = 0; i < 12; ++i) clients.push_back(peer::connected_to(proxy.port()));
  int unserved = 0;
  for (peer& c : clients) c.send("hello");
  for (peer& c : clients) unserved += c.receive(5) != "hello";
  clients.clear();
  proxy.signal(SIGTERM);
  return proxy.wait() == 0 ? unserved : 50;
} catch (const std::exception& e) {
  (void)std::fprintf(stderr, "%s\n", e.what());
  return 51;
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(quintet::testing::needs_silent_names))
BOOST_DATA_TEST_CASE(one_upstream_has_a_name_that_hangs, bdata::make(quintet::all_models), m) {
  BOOST_TEST(quintet::testing::with_silent_names([&] { return unserved_clients(m); }) == 0);
}

}  // namespace
}  // namespace example::test
