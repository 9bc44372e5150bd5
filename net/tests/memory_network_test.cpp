// SPDX-License-Identifier: BSL-1.0
// memory_network_test: handles in memory have the addresses that handles of the kernel would have.
#include <quintet/net/engine/socket_services.hpp>

#include "world.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <ostream>
#include <string>

namespace quintet {

inline std::ostream& operator<<(std::ostream& out, const address& a) { return out << a.to_string(); }

namespace testing {
namespace {

/// One connection that a loop has begun, from each of its ends.
struct connected {
  memory_network network{1};
  std::unique_ptr<engine> io = network.make_engine();
  socket_services& sockets = io->sockets();
  int listener, client = -1, accepted = -1;

  explicit connected(const listen_options& at = "127.0.0.1:7") : listener(sockets.listen(at)) {
    client = network.connect(sockets.local_address(listener));
    error_code failed;
    accepted = sockets.accept(listener, failed);
    BOOST_REQUIRE(client >= 0);
    BOOST_REQUIRE(accepted >= 0);
  }
};

BOOST_AUTO_TEST_CASE(an_accepted_handle_has_the_address_of_its_listener) {
  connected ip, local("unix:@seven");
  BOOST_TEST(ip.sockets.local_address(ip.accepted) == address("127.0.0.1:7"));
  BOOST_TEST(local.sockets.local_address(local.accepted) == address("unix:@seven"));
}

BOOST_AUTO_TEST_CASE(each_end_has_the_address_that_the_other_sees) {
  const connected c;
  BOOST_TEST(c.sockets.local_address(c.client).is_ip());
  BOOST_TEST(c.sockets.local_address(c.client) == c.sockets.remote_address(c.accepted));
  BOOST_TEST(c.sockets.local_address(c.accepted) == c.sockets.remote_address(c.client));
}

BOOST_AUTO_TEST_CASE(an_end_keeps_both_addresses_when_the_other_has_closed) {
  connected c;
  const address peer = c.sockets.local_address(c.client);
  c.network.close(c.client);
  BOOST_TEST(c.sockets.local_address(c.accepted) == address("127.0.0.1:7"));
  BOOST_TEST(c.sockets.remote_address(c.accepted) == peer);
}

BOOST_AUTO_TEST_CASE(a_handle_without_a_peer_has_a_local_address_alone) {
  connected c;
  error_code failed;
  const int connecting = c.sockets.connect(address("127.0.0.1:8"), failed);
  for (const int handle : {c.listener, connecting}) {
    BOOST_TEST(c.sockets.local_address(handle).is_ip());
    BOOST_TEST((c.sockets.remote_address(handle).type() == address::kind::none));
  }
}

BOOST_AUTO_TEST_CASE(a_handler_factory_gets_both_addresses) {
  const auto make = [](const connection_ends& ends) {
    return [ends](connection& c, bytes) { c.write(ends.peer.to_string() + " to " + ends.local.to_string()); };
  };
  world w(1, shape{0, false}, handler_factory(make));
  const int client = w.connect();
  const address from = w.sim.network().make_engine()->sockets().local_address(client);
  BOOST_TEST(w.converse(client, "x") == from.to_string() + " to 127.0.0.1:7");
}

}  // namespace
}  // namespace testing
}  // namespace quintet
