// SPDX-License-Identifier: BSL-1.0
// tutorial_admin_test: step 7 of the tutorial with real sockets and threads: its admin port waits for nobody.
// ctest: EACH_ENGINE
#include "peers.hpp"

#include "tutorial/step7_database/session.hpp"
#include "tutorial/wire.hpp"

#include <quintet/threadmodels/server.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <future>
#include <ostream>
#include <string>
#include <thread>

namespace quintet {
inline std::ostream& operator<<(std::ostream& out, model m) { return out << to_string(m); }
}  // namespace quintet

namespace {

namespace bdata = boost::unit_test::data;
using example::test::peer;

void send(peer& to, const std::string& request) {
  quintet::message_buffer message(request);
  BOOST_REQUIRE(!tutorial::wire.wrap(message));
  BOOST_REQUIRE(to.send(message.data()));
}

std::string ask(peer& server, const std::string& request) {
  send(server, request);
  for (std::string received;;) {
    const quintet::frame found = tutorial::wire.parse(received);
    if (found.is == quintet::frame::state::complete) return std::string(found.message);
    const std::string some = server.receive(found.size - received.size());
    BOOST_REQUIRE(!some.empty());
    received += some;
  }
}

quintet::config config_of(quintet::model m) {
  auto config = quintet::config::public_defaults({"127.0.0.1:0", {"127.0.0.1:0", {.priority = true}}});
  config.model = m;
  return config;
}

// The main loop is busy until the test lets it go: in every model it accepts clients, in some it also serves them.
BOOST_DATA_TEST_CASE(an_admin_is_answered_while_the_main_loop_is_busy, bdata::make(quintet::all_models), m) {
  tutorial::service all;
  all.passwords = {{"ann", "secret"}};
  quintet::server server(config_of(m), tutorial::make_sessions(all));
  all.admin_port = server.priority_port();
  all.status = [&server] { return std::to_string(server.connections().size()) + " connections"; };
  all.drain = [&server] { server.drain(std::chrono::minutes(1)); };
  std::promise<void> busy, let_go;
  std::thread running([&server] { server.run(); });
  {
    peer client = peer::connected_to(server.port());
    BOOST_TEST(ask(client, "login ann secret") == "ok");
    server.main_loop().post([&busy, may_go = let_go.get_future().share()]() noexcept {
      busy.set_value();
      may_go.wait();
    });
    busy.get_future().wait();
    peer admin = peer::connected_to(server.priority_port());
    BOOST_TEST(ask(admin, "ping") == "pong");
    BOOST_TEST(ask(admin, "status") == "2 connections");
    let_go.set_value();
    BOOST_TEST(ask(client, "ping") == "pong");
    BOOST_TEST(ask(admin, "drain") == "draining");
    BOOST_TEST(client.receive_rest().empty());
    BOOST_TEST(admin.receive_rest().empty());
  }
  running.join();  // no connection is left
}

}  // namespace
