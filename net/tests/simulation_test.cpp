// SPDX-License-Identifier: BSL-1.0
// simulation_test: servers driven by hand on a network in memory; one seed, one run.
#include <quintet/net/server/basic_server.hpp>
#include <quintet/net/stream.hpp>

#include "world.hpp"

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace quintet;
using testing::shape;
using testing::shapes;
using testing::simulated_model;
using testing::simulation;
namespace bdata = boost::unit_test::data;

namespace {

struct journal {
  std::string events;
};

struct line_handler {
  journal* log;
  int lines = 0;
  void on_open(connection& c) {
    log->events += 'o';
    c.write("hello\n");
  }
  std::size_t operator()(connection& c, bytes in) {
    std::size_t used = 0;
    for (std::size_t nl; (nl = in.find('\n', used)) != bytes::npos; used = nl + 1) {
      log->events += static_cast<char>('0' + lines++ % 10);
      const bytes line = in.substr(used, nl - used);
      if (line == "throw") throw std::runtime_error("asked to");
      if (line == "quit") {
        c.write("bye\n");
        c.close();
        return nl + 1;
      }
      c.write(std::to_string(lines));
      c.write(":");
      c.write(line);
      c.write("\n");
    }
    return used;
  }
  void on_close(connection&, error_code why) { log->events += why == errc::handler_threw ? 'T' : why ? 'e' : 'c'; }
};

struct line_coroutine {
  journal* log;
  awaitable<> operator()(stream& s) {
    line_handler same{log, 0};
    same.on_open(s);
    std::string rest;
    while (auto in = co_await s.read()) {
      rest.append(*in);
      const std::size_t used = co_await s.offload([&] { return same(s, rest); });
      rest.erase(0, used);
    }
  }
};

/// The world of the handler, and its journal.
struct logged {
  journal log;
};
template <class Handler>
struct logged_world : private logged, testing::world<Handler> {
  logged_world(std::uint64_t seed, testing::shape s) : testing::world<Handler>(seed, s, Handler{&this->log}) {}
  using logged::log;
};

/// Work of a pool that offloads itself again until it has run `left` times.
class repeated_work final : public work_item {
 public:
  repeated_work(simulation& on, int times) : work_item(&repeated_work::run), left(times), on_(on) {
    on_.offload(*this);
  }

  int left;

 private:
  static void run(work_item& item) noexcept {
    auto& self = static_cast<repeated_work&>(item);
    if (--self.left > 0) self.on_.offload(self);
  }
  simulation& on_;
};

std::string big_input(std::mt19937_64& random, int lines) {
  std::string text;
  for (int i = 0; i < lines; ++i) text += std::string(random() % 900, static_cast<char>('a' + i % 26)) + "\n";
  return text;
}
std::string expected_output(const std::string& input) {
  std::string out = "hello\n";
  int n = 0;
  for (std::size_t at = 0, nl; (nl = input.find('\n', at)) != std::string::npos; at = nl + 1)
    out += std::to_string(++n) + ":" + input.substr(at, nl + 1 - at);
  return out;
}

template <class Handler>
std::string run_many_clients(std::uint64_t seed, shape s) {
  logged_world<Handler> w(seed, s);
  std::vector<int> clients;
  std::vector<std::string> inputs, outputs(8);
  for (int i = 0; i < 8; ++i) {
    clients.push_back(w.sim.network().connect(7));
    inputs.push_back(big_input(w.sim.random(), 200));
    w.sim.network().send(clients.back(), inputs.back());
  }
  for (std::size_t quiet = 0; quiet < 2; ++quiet) {  // the window is small: output waits until a client takes it
    w.sim.run_until_quiet();
    for (std::size_t i = 0; i < clients.size(); ++i)
      if (const std::string more = w.sim.network().receive(clients[i]); !more.empty()) {
        outputs[i] += more;
        quiet = 0;
      }
  }
  for (std::size_t i = 0; i < clients.size(); ++i) BOOST_TEST(outputs[i] == expected_output(inputs[i]));
  for (const int c : clients) w.sim.network().close(c);
  w.sim.run_until_quiet();
  w.stop();
  BOOST_TEST(w.sim.network().open_handles() == 0u);
  return w.log.events;
}

}  // namespace

BOOST_DATA_TEST_CASE(every_reply_arrives_whole_and_in_order, bdata::make(shapes) * bdata::xrange(1, 6), s, seed) {
  run_many_clients<line_handler>(static_cast<std::uint64_t>(seed), s);
  run_many_clients<line_coroutine>(static_cast<std::uint64_t>(seed), s);
}

BOOST_DATA_TEST_CASE(one_seed_gives_one_run, bdata::make(shapes), s) {
  const std::string once = run_many_clients<line_handler>(42, s);
  BOOST_TEST(once == run_many_clients<line_handler>(42, s));
  BOOST_TEST(once != run_many_clients<line_handler>(43, s));
}

BOOST_DATA_TEST_CASE(a_throwing_handler_closes_its_connection_only, bdata::make(shapes), s) {
  logged_world<line_handler> w(1, s);
  const int bad = w.connect(), good = w.connect();
  w.converse(bad, "throw\n");
  BOOST_TEST(w.sim.network().at_end(bad));
  BOOST_TEST(w.converse(good, "x\n").ends_with("1:x\n"));
  BOOST_TEST(w.server->statistics().handler_errors == 1u);
  BOOST_TEST(w.log.events.find('T') != std::string::npos);
  w.stop();
}

BOOST_DATA_TEST_CASE(a_close_lets_the_peer_finish_reading_and_ends_in_time, bdata::make(shapes), s) {
  logged_world<line_handler> w(3, s);
  const int client = w.connect();
  BOOST_TEST(w.converse(client, "quit\nand more that nobody will look at\n") == "hello\nbye\n");
  BOOST_TEST(w.sim.network().at_end(client));
  BOOST_TEST(!w.sim.network().was_reset(client));
  BOOST_TEST(w.server->statistics().closed == 0u);  // it lingers until the client closes, or
  w.sim.advance(std::chrono::milliseconds(990));
  BOOST_TEST(w.server->statistics().closed == 0u);
  w.sim.advance(std::chrono::milliseconds(20));  // a second has passed
  BOOST_TEST(w.server->statistics().closed == 1u);
  w.stop();
}

BOOST_DATA_TEST_CASE(half_close_is_answered_first, bdata::make(shapes), s) {
  logged_world<line_handler> w(4, s);
  const int client = w.connect();
  w.sim.network().send(client, "a\nb\n");
  w.sim.network().shutdown_send(client);
  w.sim.run_until_quiet();
  BOOST_TEST(w.sim.network().receive(client) == "hello\n1:a\n2:b\n");
  BOOST_TEST(w.sim.network().at_end(client));
  w.stop();
}

BOOST_DATA_TEST_CASE(a_reset_and_a_stop_leave_nothing_behind, bdata::make(shapes) * bdata::xrange(1, 20), s, seed) {
  logged_world<line_coroutine> w(static_cast<std::uint64_t>(seed), s);
  std::vector<int> clients;
  for (int i = 0; i < 6; ++i) {
    clients.push_back(w.sim.network().connect(7));
    w.sim.network().send(clients.back(), "one\ntwo\nthr");
  }
  for (int turns = 0; turns < seed; ++turns) w.server->main_loop().poll();
  w.sim.network().reset(clients[0]);
  w.sim.network().reset(clients[1]);
  w.stop();
  for (std::size_t i = 2; i < clients.size(); ++i) w.sim.network().close(clients[i]);
  BOOST_TEST(w.sim.network().open_handles() == 0u);
}

// Without the work's end the test would not end either.
BOOST_AUTO_TEST_CASE(offloaded_work_ends_without_a_loop) {
  simulation sim(1);
  repeated_work one(sim, 1), other(sim, 3);
  sim.run_until_quiet();
  BOOST_TEST(one.left == 0);
  BOOST_TEST(other.left == 0);
}

BOOST_AUTO_TEST_CASE(offloaded_work_ends_after_the_last_loop_was_forgotten) {
  simulation sim(1);
  sim.forget(sim.make_loop());
  repeated_work work(sim, 3);
  sim.advance(std::chrono::milliseconds(20));
  BOOST_TEST(work.left == 0);
}

BOOST_AUTO_TEST_CASE(several_listeners_and_their_limits_in_memory) {
  simulation sim(11);
  journal log;
  basic_server server(server_options{.listen = {"127.0.0.1:7", "[::1]:7", "unix:@seven", "127.0.0.1:0"},
                                     .accepting = {.max_connections = 3},
                                     .make_engine = [&] { return sim.network().make_engine(); },
                                     .time = &sim.time()},
                      simulated_model(sim, 2, true), line_handler{&log});
  server.start();
  sim.drive(server.main_loop());
  std::vector<int> clients;
  for (const address& at : server.addresses()) clients.push_back(sim.network().connect(at));
  sim.run_until_quiet();
  BOOST_TEST(server.statistics().accepted == 3u);
  for (const int client : clients) sim.network().close(client);  // the waiting one too
  sim.run_until_quiet();
  BOOST_TEST(server.statistics().accepted == 4u);
  BOOST_TEST(sim.network().connect(address("unix:@eight")) == -1);
  server.stop();
  sim.run_until_quiet();
  server.finish();
  BOOST_TEST(sim.network().open_handles() == 0u);
}
