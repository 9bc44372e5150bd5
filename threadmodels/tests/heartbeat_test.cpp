// SPDX-License-Identifier: BSL-1.0
// heartbeat_test: pings and evictions over sockets, in all five models, on the ordinary port and on the priority loop.
// ctest: EACH_ENGINE
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/threadmodels/server.hpp>

#include <mutex>
#include <string>
#include <vector>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;
using namespace std::chrono_literals;

struct reasons {
  std::mutex mutex;
  std::vector<error_code> all;
};

struct echo {
  reasons* why;
  void operator()(connection& c, bytes in) const { c.write(in); }
  void on_close(connection&, error_code e) const {
    const std::lock_guard lock(why->mutex);
    why->all.push_back(e);
  }
};

config watching(model kind, const heartbeat_options& heartbeat) {
  return {.listen = {"127.0.0.1:0", {"127.0.0.1:0", {.priority = true}}},
          .model = kind,
          .threads = {.loops = 2, .workers = {2, 2}},
          .advanced = {.heartbeat = heartbeat}};
}

BOOST_DATA_TEST_CASE(silent_peers_are_pinged_and_those_that_answer_are_not_silent, data::make(all_models), kind) {
  reasons why;
  running<server> srv(watching(kind, {.interval = 5ms, .ping_after = 10ms, .ping = "?"}), echo{&why});
  client ordinary(srv->port()), heart(srv->priority_port());
  for (int i = 0; i < 3; ++i) {
    BOOST_TEST(ordinary.receive(1) == "?");
    BOOST_TEST(heart.receive(1) == "?");
  }
  BOOST_TEST(eventually([&] { return srv->statistics().heartbeat.pings >= 6u; }));  // counted when they have left
  BOOST_TEST(srv->statistics().evicted == 0u);
}

BOOST_DATA_TEST_CASE(silent_peers_are_closed, data::make(all_models), kind) {
  reasons why;
  running<server> srv(watching(kind, {.interval = 5ms, .evict_after = 50ms}), echo{&why});
  client ordinary(srv->port()), heart(srv->priority_port());
  BOOST_TEST(ordinary.receive_rest().empty());
  BOOST_TEST(heart.receive_rest().empty());
  BOOST_TEST(eventually([&] { return srv->statistics().closed == 2u; }));
  BOOST_TEST(srv->statistics().evicted == 2u);
  const std::lock_guard lock(why.mutex);
  BOOST_TEST((why.all == std::vector<error_code>(2, errc::heartbeat_timeout)));
}

BOOST_DATA_TEST_CASE(it_needs_no_priority_port, data::make(all_models), kind) {
  reasons why;
  config c = watching(kind, {.interval = 5ms, .evict_after = 10ms});
  c.listen.pop_back();
  running<server> srv(c, echo{&why});
  BOOST_TEST(srv->priority_port() == 0);
  client ordinary(srv->port());
  BOOST_TEST(ordinary.receive_rest().empty());
  BOOST_TEST(srv->statistics().heartbeat.lateness.total() > 0u);
}

/// Waits before it sends anything, so that no earlier silence counts.
struct waiting {
  gate* until;
  void on_open(connection& c) const {
    until->wait();
    c.write("done");
  }
  void operator()(connection&, bytes) const {}
};

// In models 1, 3 and 5, a handler may block as long as it likes.
BOOST_AUTO_TEST_CASE(a_handler_that_waits_is_not_silence) {
  for (const model kind : {model::thread_per_connection, model::reactor_pool, model::loop_per_thread_pool}) {
    gate until;
    running<server> srv(watching(kind, {.interval = 2ms, .evict_after = 2ms}), waiting{&until});
    client patient(srv->port());
    BOOST_REQUIRE(until.await_waiting(1));
    const std::uint64_t before = srv->statistics().heartbeat.scans;
    BOOST_TEST(eventually([&] { return srv->statistics().heartbeat.scans > before + 20; }));
    BOOST_TEST(srv->statistics().evicted == 0u);
    until.open();
    BOOST_TEST(patient.receive(4) == "done");
  }
}

}  // namespace
}  // namespace quintet::test
