// SPDX-License-Identifier: BSL-1.0
// client_test: clients driven by hand, against a server on the same network in memory: back-off, hooks, ends.
#include <quintet/net/client/basic_client.hpp>
#include <quintet/net/stream.hpp>

#include "world.hpp"

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

using namespace quintet;
using testing::shape;
using testing::shapes;
using testing::simulated_model;
using testing::simulation;
namespace bdata = boost::unit_test::data;

namespace {

using namespace std::chrono_literals;

constexpr reconnect_options quick{.base = 100ms, .cap = 1s, .lasted = 5s};

const auto echo = [](connection& c, bytes in) { c.write(in); };
using echo_world = testing::world<std::remove_const_t<decltype(echo)>>;

struct journal {
  std::string events;
  std::vector<connect_failure> failures;
  void operator()(const connect_failure& f) { failures.push_back(f); }
};

/// Says which of its connections this is, and waits for the echo.
struct caller {
  journal* log;
  int connections = 0;
  void on_open(connection& c) {
    log->events += 'o' + std::to_string(++connections);
    c.write("hello");
  }
  std::size_t operator()(connection& c, bytes in) {
    if (in.size() < 5) return 0;
    log->events += in == "hello" ? '!' : '?';
    if (in == "leave") c.close();
    return in.size();
  }
  void on_close(connection&, error_code why) { log->events += why ? 'e' : 'c'; }
};
struct coroutine_caller {
  journal* log;
  int connections = 0;
  awaitable<> operator()(stream& s) {
    log->events += 'o' + std::to_string(++connections);
    s.write("hello");
    std::string got;
    while (auto in = co_await s.read())
      if ((got += *in).size() >= 5) {
        log->events += co_await s.offload([&] { return got == "hello" ? '!' : '?'; });
        got.clear();
      }
    log->events += 'e';
  }
};

/// A client in the world of a simulation; finished and cleaned up at the end.
template <class Handler>
class simulated_client {
 public:
  simulated_client(simulation& s, shape form, std::optional<reconnect_options> again = {}) : sim(s) {
    client_options o{.reconnect = again, .on_connect_failed = [this](const connect_failure& f) { log(f); }, .seed = 1};
    o.make_engine = [this] { return sim.network().make_engine(); };
    o.time = &sim.time();
    client.emplace(o, simulated_model(sim, form.loops, form.pooled), Handler{&log});
    client->start();
    sim.drive(client->main_loop());
  }
  simulated_client(const simulated_client&) = delete;
  simulated_client& operator=(const simulated_client&) = delete;
  ~simulated_client() {
    stop();
    sim.forget(client->main_loop());
  }
  void stop() {
    client->stop();
    sim.run_until_quiet();
    BOOST_TEST(client->main_loop().finished());
    client->finish();
    BOOST_TEST(client->links() == 0U);
  }
  link_id connect(const destination& to = "127.0.0.1:7") {
    const link_id id = client->connect(to);
    sim.run_until_quiet();
    return id;
  }
  std::uint64_t attempts() { return client->statistics().attempts; }

  simulation& sim;
  journal log;
  std::optional<basic_client> client;
};

template <class Handler>
void converse(shape s) {
  echo_world there(5, {0, false}, echo);
  simulated_client<Handler> here(there.sim, s);
  for (int i = 0; i < 3; ++i) here.connect();
  BOOST_TEST(here.client->links() == 3U);
  BOOST_TEST(here.client->connections().size() == 3U);
  for (const connection_id id : here.client->connections().all()) {
    BOOST_TEST(!here.client->connections().send(id, "hello"));
    there.sim.run_until_quiet();
  }
  here.stop();
  BOOST_TEST(std::ranges::count(here.log.events, '!') == 6);
  BOOST_TEST(std::ranges::count(here.log.events, 'e') == 3);
  BOOST_TEST(here.log.failures.empty());
}

}  // namespace

BOOST_DATA_TEST_CASE(both_flavours_in_all_shapes, bdata::make(shapes), s) {
  converse<caller>(s);
  converse<coroutine_caller>(s);
}

BOOST_AUTO_TEST_CASE(without_reconnect_a_link_is_one_attempt) {
  simulation sim(2);
  simulated_client<caller> here(sim, {0, false});
  const link_id id = here.connect();
  BOOST_REQUIRE(here.log.failures.size() == 1U);
  const connect_failure& f = here.log.failures[0];
  BOOST_TEST((f.link == id));
  BOOST_TEST(f.reason == error_code(ECONNREFUSED, boost::system::system_category()));
  BOOST_TEST(f.attempt == 1U);
  BOOST_TEST(!f.again);
  BOOST_TEST(here.client->links() == 0U);
  BOOST_TEST(here.client->statistics().failures == 1U);
}

// Each attempt comes exactly when the hook said it would, and within what the back-off allows.
BOOST_AUTO_TEST_CASE(attempts_come_when_the_back_off_says) {
  simulation sim(3);
  simulated_client<caller> here(sim, {0, false}, quick);
  here.connect();
  duration longest = quick.base, longest_seen{};
  for (unsigned n = 1; n < 30; ++n) {
    BOOST_REQUIRE(here.log.failures.size() == n);
    const connect_failure f = here.log.failures.back();
    BOOST_TEST(f.attempt == n);
    BOOST_REQUIRE(f.again);
    BOOST_TEST((*f.again <= longest));
    longest_seen = std::max(longest_seen, *f.again);
    longest = std::min<duration>(quick.cap, longest * 2);
    if (*f.again > 1ns) sim.advance(*f.again - 1ns, 1s);
    BOOST_TEST(here.attempts() == n);
    sim.advance(1ns);
  }
  BOOST_TEST((longest_seen > quick.cap / 2));  // it has grown, and the jitter is a full one
}

// From the beginning of one attempt to the beginning of the next: 10 s of waiting for an answer count.
BOOST_AUTO_TEST_CASE(an_attempt_that_took_long_has_been_waited_for) {
  simulation sim(4);
  sim.network().set_silent(address("127.0.0.1:7"), true);
  simulated_client<caller> here(sim, {0, false}, quick);
  here.connect();
  sim.advance(10s, 1s);
  BOOST_REQUIRE(here.log.failures.size() == 1U);
  BOOST_TEST((here.log.failures[0].reason == errc::connect_timeout));
  BOOST_TEST((here.log.failures[0].again == duration::zero()));
  BOOST_TEST(here.attempts() == 2U);
}

BOOST_AUTO_TEST_CASE(the_longest_back_off_is_never) {
  simulation sim(4);
  sim.advance(1h, 1min);
  simulated_client<caller> here(
      sim, {0, false}, reconnect_options{.base = duration::max(), .cap = duration::max(), .lasted = duration::max()});
  for (int i = 0; i < 10; ++i) here.connect();
  sim.advance(24h, 1h);
  BOOST_TEST(here.attempts() == 10U);
}

BOOST_DATA_TEST_CASE(a_lost_connection_is_made_again, bdata::make(shapes) * bdata::make({false, true}), s, keep) {
  echo_world there(6, {0, false}, echo);
  reconnect_options again = quick;
  again.keep_handler = keep;
  simulated_client<caller> here(there.sim, s, again);
  simulated_client<coroutine_caller> coroutines(there.sim, s, again);
  here.connect();
  coroutines.connect();
  for (int i = 0; i < 2; ++i) {
    for (const connection_id id : there.server->connections().all()) (void)there.server->connections().close(id);
    there.sim.advance(2s, 1ms);
  }
  // The handler is the same one, or another that has never seen a connection.
  BOOST_TEST(here.log.events == (keep ? "o1!eo2!eo3!" : "o1!eo1!eo1!"));
  BOOST_TEST(coroutines.log.events == (keep ? "o1!eo2!eo3!" : "o1!eo1!eo1!"));
  BOOST_TEST(here.log.failures.empty());
}

BOOST_DATA_TEST_CASE(what_this_end_closes_is_not_made_again, bdata::make(shapes), s) {
  echo_world there(7, {0, false}, echo);
  simulated_client<caller> here(there.sim, s, quick);
  here.connect();
  for (const connection_id id : there.server->connections().all()) (void)there.server->connections().send(id, "leave");
  there.sim.advance(5s);
  BOOST_TEST(here.log.events == "o1!?c");
  BOOST_TEST(here.client->links() == 0U);
}

// Short connections are failures to the back-off; one that has lasted is not.
BOOST_AUTO_TEST_CASE(the_back_off_begins_anew_after_a_connection_that_has_lasted) {
  reconnect_options again{.base = 1s, .cap = 1h, .lasted = 10s};
  echo_world there(8, {0, false}, echo);
  simulated_client<caller> here(there.sim, {0, false}, again);
  here.connect();
  const auto cut = [&] {
    for (const connection_id id : there.server->connections().all()) (void)there.server->connections().close(id);
    there.sim.run_until_quiet();
  };
  duration longest_short{};
  for (int i = 0; i < 10; ++i) {
    const time_point begin = there.sim.time().now();
    cut();
    while (here.client->connections().size() == 0) there.sim.advance(100ms, 100ms);
    longest_short = std::max(longest_short, there.sim.time().now() - begin);
  }
  BOOST_TEST((longest_short > 10s));
  for (int i = 0; i < 10; ++i) {
    there.sim.advance(10s, 100ms);
    const std::uint64_t before = here.attempts();
    cut();  // the first wait is over already, since it counts from the attempt
    BOOST_TEST(here.attempts() == before + 1);
  }
}

BOOST_AUTO_TEST_CASE(a_link_can_be_ended_in_each_of_its_states) {
  echo_world there(9, {0, false}, echo);
  there.sim.network().set_silent(address("127.0.0.1:9"), true);
  simulated_client<caller> here(there.sim, {3, true}, quick);
  for (const char* to : {"127.0.0.1:9", "127.0.0.1:8", "127.0.0.1:7"}) {  // silent, refused, connected
    const link_id id = here.connect(to);
    BOOST_TEST(here.client->links() == 1U);
    here.client->disconnect(id);
    here.client->disconnect(id);
    there.sim.advance(2s);
    BOOST_TEST(here.client->links() == 0U);
  }
  BOOST_TEST(here.log.events == "o1!c");
  const link_id at_once = here.client->connect("127.0.0.1:7");
  here.client->disconnect(at_once);
  there.sim.advance(2s);
  BOOST_TEST(here.client->links() == 0U);
}

BOOST_DATA_TEST_CASE(ended_at_any_moment, bdata::make(shapes) * bdata::xrange(1, 15), s, moment) {
  echo_world there(static_cast<std::uint64_t>(moment), {0, false}, echo);
  simulated_client<coroutine_caller> here(there.sim, s, quick);
  std::vector<link_id> links;
  for (int i = 0; i < 4; ++i) links.push_back(here.client->connect(i == 3 ? "127.0.0.1:8" : "127.0.0.1:7"));
  for (int i = 0; i < moment; ++i) here.client->main_loop().poll();
  here.client->disconnect(links[0]);
  here.client->disconnect(links[3]);
  for (int i = 0; i < moment % 3; ++i) here.client->main_loop().poll();
}

BOOST_AUTO_TEST_CASE(a_client_that_never_runs_says_so) {
  simulation sim(10);
  journal log;
  {
    client_options o{.reconnect = quick, .on_connect_failed = [&](const connect_failure& f) { log(f); }};
    o.make_engine = [&] { return sim.network().make_engine(); };
    o.time = &sim.time();
    basic_client never(o, simulated_model(sim, 0, false), caller{&log});
    never.connect("127.0.0.1:7");
    never.connect("localhost:7");
    never.disconnect(never.connect("127.0.0.1:7"));
  }
  BOOST_REQUIRE(log.failures.size() == 3U);
  for (const connect_failure& f : log.failures) BOOST_TEST((f.reason == errc::stopped));
  BOOST_TEST(sim.network().attempts().empty());
}

BOOST_AUTO_TEST_CASE(client_options_that_cannot_be) {
  BOOST_CHECK_THROW(validate(reconnect_options{.base = 0s}), config_error);
  BOOST_CHECK_THROW(validate(reconnect_options{.base = 2s, .cap = 1s}), config_error);
}
