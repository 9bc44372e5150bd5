// SPDX-License-Identifier: BSL-1.0
// child_process_test: a server of each model starts a program on its main loop, and sees its end there.
#include <quintet/net/child_process.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <future>
#include <memory>

#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"

namespace quintet::test {
namespace {

BOOST_DATA_TEST_CASE(the_main_loop_watches_programs, boost::unit_test::data::make(all_models), kind) {
  running<server> srv(config{.model = kind}, +[](connection& c, bytes in) { c.write(in); });
  client peer(srv->port());
  peer.send("before");
  BOOST_TEST(peer.receive(6) == "before");
  event_loop& main = srv->main_loop();
  child_process child(main);  // used on the main loop only
  std::promise<bool> ended;
  main.post([&] {
    if (child.start({"/bin/sh", "-c", "exit 7"}, [&](exit_status s) { ended.set_value(s.value == 7); }))
      ended.set_value(false);
  });
  BOOST_TEST(ended.get_future().get());
  peer.send("after");
  BOOST_TEST(peer.receive(5) == "after");
}

// A connection of model 1 has a loop that blocks in recv().
BOOST_AUTO_TEST_CASE(the_loop_of_a_connection_with_its_own_thread_says_that_it_cannot) {
  std::promise<error_code> told;
  const auto handler = [&](connection& c, bytes) {
    child_process child(c.loop());
    told.set_value(child.start({"/bin/true"}, {}));
    c.write("still there");
  };
  running<server> srv(config{.model = model::thread_per_connection}, handler);
  client peer(srv->port());
  peer.send("go");
  BOOST_TEST((told.get_future().get() == errc::operation_not_supported));
  BOOST_TEST(peer.receive(11) == "still there");
}

}  // namespace
}  // namespace quintet::test
