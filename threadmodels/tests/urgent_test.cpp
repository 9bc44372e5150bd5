// SPDX-License-Identifier: BSL-1.0
// urgent_test: urgent messages are answered while the handler is at work, its batch waits for a pool, or the connection
// has migrated.
// ctest: EACH_ENGINE
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/net/connection/urgent_frames.hpp>
#include <quintet/net/framed.hpp>
#include <quintet/threadmodels/server.hpp>

#include <string>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;

/// Echoes lines. "w" waits at the gate, "go" migrates to the priority loop. "!x" is urgent; its answer is "?x".
struct session {
  gate* holds;
  void operator()(connection& c, bytes message) const {
    if (message == "w") holds->wait();
    if (message == "go") c.move_to_priority_loop();
    c.write(std::string(message) + "\n");
  }
  static bool is_urgent(bytes message) { return message.starts_with('!'); }
  static void on_urgent(urgent_reply& reply, bytes message) {
    reply.write("?");
    reply.write(message.substr(1));
    reply.write("\n");
  }
};
using handler_type = framed<delimiter, session>;
handler_type lines(gate& holds) { return {delimiter("\n"), session{&holds}}; }

config of(model kind) {
  return {.listen = {"127.0.0.1:0"},
          .model = kind,
          .threads = {.loops = 2, .workers = {1, 1}, .offload = {.policy = offload_policy::always}},
          .advanced = {.priority = {.without_listener = true}}};
}

BOOST_DATA_TEST_CASE(ahead_of_what_came_with_it, data::make(all_models), kind) {
  gate holds;
  running<server> srv(of(kind), lines(holds));
  client c(srv->port());
  BOOST_TEST(c.send("a\nb\n!1\nc\n!2\n!unfin"));
  BOOST_TEST(c.receive(12) == "?1\n?2\na\nb\nc\n");
  BOOST_TEST(c.send("ished\nd\n"));
  BOOST_TEST(c.receive(13) == "?unfinished\nd");
  BOOST_TEST(eventually([&] { return srv->statistics().urgent == 3u; }));
}

BOOST_DATA_TEST_CASE(while_the_handler_is_at_work, data::make(pooled_models), kind) {
  gate holds;
  running<server> srv(of(kind), lines(holds));
  client c(srv->port());
  c.send("w\n");
  const bool at_work = holds.await_waiting(1);
  std::string answers;
  for (int i = 0; i < 3; ++i) {
    c.send("!1\nx\n");
    answers += c.receive(3);
  }
  holds.open();
  BOOST_TEST(at_work);
  BOOST_TEST(answers == "?1\n?1\n?1\n");
  BOOST_TEST(c.receive(8) == "w\nx\nx\nx\n");
}

BOOST_DATA_TEST_CASE(while_its_batch_waits_for_a_worker, data::make(pooled_models), kind) {
  gate holds;
  running<server> srv(of(kind), lines(holds));
  client first(srv->port()), second(srv->port());
  first.send("w\n");
  const bool at_work = holds.await_waiting(1);  // occupies the only worker
  second.send("x\n!1\ny\n");
  const std::string urgent = second.receive(3);
  holds.open();
  BOOST_TEST(at_work);
  BOOST_TEST(urgent == "?1\n");
  BOOST_TEST(second.receive(4) == "x\ny\n");
  BOOST_TEST(first.receive(2) == "w\n");
}

BOOST_DATA_TEST_CASE(on_the_priority_loop_as_before, data::make(all_models), kind) {
  gate holds;
  running<server> srv(of(kind), lines(holds));
  client c(srv->port());
  BOOST_TEST(c.send("go\n"));
  BOOST_TEST(c.receive(3) == "go\n");
  if (srv->main_loop().io().capabilities().can_detach)
    BOOST_TEST(eventually([&] { return srv->statistics().moved_here == 1u; }));
  BOOST_TEST(c.send("a\n!1\n"));
  BOOST_TEST(c.receive(5) == "?1\na\n");
}

}  // namespace
}  // namespace quintet::test
