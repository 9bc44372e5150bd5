// SPDX-License-Identifier: BSL-1.0
// client_draining_test: draining of clients driven by hand: received input, attempts to connect, the deadline.
#include <quintet/net/client/basic_client.hpp>
#include <quintet/net/engine/socket_services.hpp>
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

/// The server's side: sends a question, and keeps the answers.
struct asking {
  std::vector<std::string>* heard;
  std::size_t number = 0;
  void on_open(connection& c) {
    number = heard->size();
    heard->emplace_back();
    c.write("abc");
  }
  void operator()(connection&, bytes in) const { (*heard)[number] += in; }
};
using asking_world = testing::world<asking>;

/// The client's side: answers in capitals, and sends "." when it drains.
struct answering {
  void operator()(connection& c, bytes in) const {
    for (const char letter : in) c.write(std::string(1, static_cast<char>(letter - 'a' + 'A')));
  }
  void on_drain(connection& c) const { c.write("."); }
};
awaitable<> answering_coroutine(stream& s) {
  while (const auto in = co_await s.read()) {
    const std::string got(*in);
    co_await s.offload([&] { answering()(s, got); });
  }
  if (s.draining()) s.write(".");
}

struct client_side {
  std::vector<connect_failure> failures;
  std::vector<std::string> log;
  client_options options(simulation& sim, std::optional<reconnect_options> again = {}) {
    client_options o{.reconnect = again,
                     .on_connect_failed = [this](const connect_failure& f) { failures.push_back(f); },
                     .log = [this](const log_event& e) { log.push_back(to_string(e)); },
                     .seed = 1};
    o.make_engine = [&sim] { return sim.network().make_engine(); };
    o.time = &sim.time();
    return o;
  }
};

template <class Client>
void begin(simulation& sim, Client& client) {
  client.start();
  sim.drive(client.main_loop());
}
template <class Client>
void finish(simulation& sim, Client& client) {
  BOOST_TEST(client.main_loop().finished());
  client.finish();
  sim.forget(client.main_loop());
  BOOST_TEST(client.links() == 0U);
}

/// Drains the client after `moment` turns of the loops: while it connects, when connected, or within an answer.
template <class Handler>
void drain_at(shape s, int moment, Handler handler) {
  std::vector<std::string> heard;
  asking_world there(static_cast<std::uint64_t>(moment), {0, false}, asking{&heard});
  client_side mine;
  basic_client client(mine.options(there.sim, reconnect_options{}), simulated_model(there.sim, s.loops, s.pooled),
                      handler);
  begin(there.sim, client);
  for (int i = 0; i < 4; ++i) client.connect("127.0.0.1:7");
  for (int i = 0; i < moment; ++i) {
    client.main_loop().poll();
    there.server->main_loop().poll();
  }
  client.drain(1min);
  there.sim.advance(2s);  // long enough for the connections to close
  finish(there.sim, client);
  BOOST_TEST(client.statistics().opened == client.statistics().closed);
  BOOST_TEST(client.statistics().opened + mine.failures.size() == 4U);
  for (const connect_failure& f : mine.failures) {
    BOOST_TEST((f.reason == errc::stopped));
    BOOST_TEST(!f.again);
  }
  for (const std::string& all : heard)  // a cancelled attempt sends nothing
    BOOST_TEST((all.empty() || all == "." || all == "A." || all == "AB." || all == "ABC."), all);
}

}  // namespace

BOOST_DATA_TEST_CASE(at_any_moment, bdata::make(shapes) * bdata::xrange(0, 12), s, moment) {
  drain_at(s, moment, answering());
  drain_at(s, moment, &answering_coroutine);
}

BOOST_AUTO_TEST_CASE(what_was_received_is_answered) {
  std::vector<std::string> heard;
  asking_world there(1, {0, false}, asking{&heard});
  there.sim.network().takes_all = true;
  client_side mine;
  basic_client client(mine.options(there.sim), simulated_model(there.sim, 3, true), answering());
  begin(there.sim, client);
  client.connect("127.0.0.1:7");
  there.sim.run_until_quiet();
  for (const connection_id id : there.server->connections().all()) (void)there.server->connections().send(id, "def");
  there.server->main_loop().poll();  // the bytes are in transit
  client.drain(1min);
  there.sim.advance(2s);
  finish(there.sim, client);
  BOOST_TEST(heard == std::vector<std::string>({"ABCDEF."}));
  BOOST_TEST(mine.log == std::vector<std::string>({"draining"}));
}

// Three links: one connects, one waits for its next attempt, and one is begun after drain().
BOOST_AUTO_TEST_CASE(attempts_are_given_up) {
  simulation sim(2);
  sim.network().set_silent(address("127.0.0.1:9"), true);
  client_side mine;
  basic_client client(mine.options(sim, reconnect_options{.base = 1h, .cap = 1h}), simulated_model(sim, 0, false),
                      answering());
  begin(sim, client);
  const link_id refused = client.connect("127.0.0.1:8");
  const link_id silent = client.connect("127.0.0.1:9");
  sim.run_until_quiet();
  BOOST_TEST(client.links() == 2U);
  client.drain(1min);
  client.drain(1min);
  const link_id late = client.connect("127.0.0.1:9");
  sim.run_until_quiet();
  finish(sim, client);
  BOOST_REQUIRE(mine.failures.size() == 3U);
  BOOST_TEST((mine.failures[0].link == refused && mine.failures[0].again));
  for (const connect_failure& f : {mine.failures[1], mine.failures[2]}) BOOST_TEST((f.reason == errc::stopped));
  BOOST_TEST((mine.failures[1].link == silent && mine.failures[2].link == late));
  BOOST_TEST(mine.log == std::vector<std::string>({"127.0.0.1:8: cannot connect: Connection refused", "draining"}));
  BOOST_TEST(sim.network().attempts().size() == 2U);
  BOOST_TEST(sim.network().open_handles() == 0U);
}

// The first and the last failure of a series are logged as warnings, those in between for debugging.
BOOST_AUTO_TEST_CASE(a_series_of_failures_is_told_once) {
  simulation sim(3);
  client_side mine;
  std::vector<severity> levels;
  client_options o = mine.options(sim, reconnect_options{.base = 1ms, .cap = 1ms});
  o.log = [&](const log_event& e) { levels.push_back(e.level); };
  basic_client client(o, simulated_model(sim, 0, false), answering());
  begin(sim, client);
  client.connect("127.0.0.1:8");
  while (levels.size() < 5) sim.advance(1ms);
  BOOST_TEST((levels[0] == severity::warning));
  for (std::size_t i = 1; i < levels.size(); ++i) BOOST_TEST((levels[i] == severity::debug));
  client.stop();
  sim.run_until_quiet();
  finish(sim, client);
}

// The client waits until the deadline for a peer that never closes.
BOOST_AUTO_TEST_CASE(the_deadline) {
  simulation sim(4);
  event_loop& other = sim.make_loop();
  const int listening = other.io().sockets().listen(listen_options("127.0.0.1:7"));
  client_side mine;
  basic_client client(mine.options(sim), simulated_model(sim, 0, false), answering());
  begin(sim, client);
  client.connect("127.0.0.1:7");
  sim.run_until_quiet();
  client.drain(10ms);
  sim.advance(9ms, 1ms);
  BOOST_TEST(!client.main_loop().finished());
  sim.advance(1ms);
  finish(sim, client);
  other.io().close(listening);
}

BOOST_AUTO_TEST_CASE(the_longest_deadline_is_none) {
  simulation sim(4);
  sim.advance(1h, 1min);
  event_loop& other = sim.make_loop();
  const int listening = other.io().sockets().listen(listen_options("127.0.0.1:7"));
  client_side mine;
  basic_client client(mine.options(sim), simulated_model(sim, 0, false), answering());
  begin(sim, client);
  client.connect("127.0.0.1:7");
  sim.run_until_quiet();
  client.drain(duration::max());
  sim.advance(500ms);  // the connection lingers meanwhile
  BOOST_TEST(!client.main_loop().finished());
  client.stop();
  sim.run_until_quiet();
  finish(sim, client);
  other.io().close(listening);
}

BOOST_AUTO_TEST_CASE(drained_before_it_runs_and_never_run) {
  simulation sim(5);
  client_side mine;
  {
    basic_client never(mine.options(sim), simulated_model(sim, 0, false), answering());
    never.connect("127.0.0.1:7");
    never.drain(1min);
  }
  basic_client client(mine.options(sim), simulated_model(sim, 0, false), answering());
  client.drain(1min);
  client.connect("127.0.0.1:7");
  begin(sim, client);
  sim.run_until_quiet();
  finish(sim, client);
  BOOST_REQUIRE(mine.failures.size() == 2U);
  for (const connect_failure& f : mine.failures) BOOST_TEST((f.reason == errc::stopped));
}
