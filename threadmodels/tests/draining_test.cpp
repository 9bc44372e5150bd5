// SPDX-License-Identifier: BSL-1.0
// draining_test: servers drain under load, with a ledger on both sides. No request is lost, and none is executed
// without an answer.
// ctest: EACH_ENGINE
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/base/build/sanitizers.hpp>
#include <quintet/net/asio.hpp>
#include <quintet/net/stop_on_signals.hpp>
#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <future>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

namespace quintet {

static std::ostream& operator<<(std::ostream& out, accept_strategy strategy) { return out << to_string(strategy); }

namespace test {
namespace {

namespace data = boost::unit_test::data;

constexpr std::chrono::seconds deadline{30};

/// The executed requests, by client and request. One handler writes each entry; the test reads it at the end.
struct ledger {
  static constexpr std::size_t clients = 64, most = 100'000;
  std::vector<std::vector<bool>> executed = std::vector<std::vector<bool>>(clients, std::vector<bool>(most));
};

struct answer {
  std::size_t client, request;
};

/// A request is "client request\n", and so is its answer.
answer execute(ledger& l, const std::string& line) {
  std::size_t at = 0;
  const answer a{std::stoul(line, &at), std::stoul(line.substr(at))};
  l.executed[a.client][a.request] = true;
  return a;
}
std::string text(const answer& a) { return std::to_string(a.client) + " " + std::to_string(a.request) + "\n"; }

struct callback {
  ledger* l;
  std::size_t operator()(connection& c, bytes in) const {
    std::size_t used = 0;
    for (std::size_t nl; (nl = in.find('\n', used)) != bytes::npos; used = nl + 1)
      c.write(text(execute(*l, std::string(in.substr(used, nl - used)))));
    return used;
  }
  void on_drain(connection& c) const { c.write("goodbye\n"); }
};

struct coroutine {
  ledger* l;
  awaitable<> operator()(stream& s) const {
    std::string rest;
    while (const auto in = co_await s.read()) {
      rest += *in;
      std::size_t used = 0;
      for (std::size_t nl; (nl = rest.find('\n', used)) != std::string::npos; used = nl + 1) {
        const std::string line = rest.substr(used, nl - used);
        const answer a = co_await s.offload([&] { return execute(*l, line); });
        s.write(text(a));
      }
      rest.erase(0, used);
    }
    if (s.draining()) s.write("goodbye\n");
  }
};

/// A client's record: the number of answers, whether they were its own and in order, and how the stream ended.
struct account {
  std::size_t answered = 0;
  bool in_order = true, said_goodbye = false;
  ending end = ending::none;
};

/// Keeps `depth` requests outstanding until the server says goodbye.
account converse(std::uint16_t port, std::size_t number, std::size_t depth) {
  account a;
  client c(port);
  bool sends = true;
  for (std::size_t asked = 0;; ++asked) {
    sends = sends && asked < ledger::most && c.send(text({number, asked}));
    if (sends && asked + 1 < depth) continue;
    const std::string line = c.receive_line();
    if (line == "goodbye") a.said_goodbye = true;
    if (line.empty() || a.said_goodbye) break;
    a.in_order &= line + "\n" == text({number, a.answered++});
  }
  (void)c.receive_rest();
  a.end = c.ended();
  return a;
}

template <class Handler>
void drain_once(model kind) {
  ledger l;
  std::vector<account> accounts(ledger::clients);
  running<server> srv(config{.model = kind, .threads = {.loops = 2, .workers = {2, 4}}}, Handler{&l});
  std::vector<std::thread> threads;
  threads.reserve(ledger::clients);
  for (std::size_t i = 0; i < ledger::clients; ++i)
    threads.emplace_back([&, i] { accounts[i] = converse(srv->port(), i, i % 4 == 0 ? 8 : 1); });
  BOOST_TEST(eventually([&] {
    const auto now = srv->statistics();
    return now.opened == ledger::clients && now.batches > 4 * ledger::clients;
  }));
  srv->drain(deadline);
  srv.join();
  for (auto& t : threads) t.join();
  for (std::size_t i = 0; i < ledger::clients; ++i) {
    const auto executed = static_cast<std::size_t>(std::count(l.executed[i].begin(), l.executed[i].end(), true));
    BOOST_TEST(accounts[i].in_order);
    BOOST_TEST(accounts[i].answered == executed, "client " << i << " has " << accounts[i].answered << " answers, and "
                                                           << executed << " requests were executed");
    BOOST_TEST(accounts[i].said_goodbye);
  }
  BOOST_TEST(srv->statistics().opened == srv->statistics().closed);
}

/// A sanitizer checks each access, so a few rounds are enough. The number of rounds serves to find lost requests.
constexpr int drains = sanitized ? 4 : 20;

BOOST_DATA_TEST_CASE(nothing_is_lost_and_nothing_goes_unanswered, data::make(all_models) * data::xrange(drains), kind,
                     round) {
  if (round % 2 == 0)
    drain_once<callback>(kind);
  else
    drain_once<coroutine>(kind);
}

BOOST_DATA_TEST_CASE(a_server_without_connections_drains_at_once, data::make(all_models), kind) {
  ledger l;
  running<server> srv(config{.model = kind}, callback{&l});
  srv->drain(deadline);
  srv.join();
}

BOOST_DATA_TEST_CASE(drained_before_it_runs, data::make(all_models), kind) {
  ledger l;
  server srv(config{.model = kind}, callback{&l});
  srv.drain(deadline);
  srv.run();
  BOOST_TEST(srv.statistics().accepted == 0U);
}

// The clients are connected before the server accepts, so it does not know of them yet.
BOOST_DATA_TEST_CASE(who_waits_in_the_backlog_is_answered,
                     data::make(all_models) * data::make({accept_strategy::main_reactor, accept_strategy::reuse_port,
                                                          accept_strategy::exclusive}),
                     kind, strategy) {
  ledger l;
  server srv(config{.listen = {"127.0.0.1:0", {"127.0.0.1:0", {.priority = true}}},
                    .model = kind,
                    .threads = {.loops = 2},
                    .advanced = {.accept = strategy}},
             callback{&l});
  std::vector<client> clients;
  for (std::size_t i = 0; i < ledger::clients; ++i) {
    client& c = clients.emplace_back(i % 8 == 0 ? srv.priority_port() : srv.port());
    c.send(text({i, 1}));
  }
  srv.drain(deadline);
  srv.run();
  for (std::size_t i = 0; i < clients.size(); ++i) BOOST_TEST(clients[i].receive_rest() == text({i, 1}) + "goodbye\n");
}

bool is_refused(std::uint16_t port) {
  try {
    const client connected(port);
    return false;
  } catch (const std::runtime_error&) {
    return true;
  }
}

struct stuck {
  gate* block;
  void operator()(connection& c, bytes in) const {
    (void)block->wait();
    c.write(in);
  }
};

BOOST_DATA_TEST_CASE(the_deadline_does_not_wait_for_idle_peers, data::make(all_models), kind) {
  ledger l;
  running<server> srv(config{.model = kind}, callback{&l});
  client never_closes(srv->port());
  BOOST_TEST(eventually([&] { return srv->statistics().opened == 1; }));
  srv->drain(std::chrono::milliseconds(500));  // on a busy machine, 1 ms ended before on_drain
  srv.join();
  BOOST_TEST(never_closes.receive_line() == "goodbye");
}

const std::vector<duration> long_enough{deadline, duration::max()};

// In models 2 and 4 the waiting handler blocks its loop, and so the server.
BOOST_DATA_TEST_CASE(while_it_drains_it_listens_no_more_and_a_handler_at_work_is_waited_for,
                     data::make(all_models) * data::xrange(long_enough.size()), kind, which) {
  gate block;
  running<server> srv(config{.model = kind, .threads = {.loops = 2, .workers = {2, 2}}}, stuck{&block});
  client c(srv->port());
  c.send("x");
  BOOST_TEST(block.await_waiting(1));
  srv->drain(long_enough[which]);
  if (kind != model::single_reactor)  // its only loop runs the handler
    BOOST_TEST(eventually([&] { return is_refused(srv->port()); }));
  block.open();
  BOOST_TEST(c.receive_rest() == "x");
  c.close();
  srv.join();
}

/// Sends a part of its reply, and the rest when the test cancels the timer.
struct two_parts {
  static constexpr std::size_t first = 70'000;  // bytes that are sent at once
  struct pause {
    event_loop* loop;
    boost::asio::steady_timer* timer;
  };
  std::promise<pause>* waiting;

  awaitable<> operator()(stream& s) const {
    boost::asio::steady_timer timer(s.get_executor(), std::chrono::hours(24));
    while (co_await s.read()) {
      s.write(std::string(first, 'a'));
      waiting->set_value({&s.loop(), &timer});
      try {
        co_await timer.async_wait(boost::asio::deferred);
      } catch (const boost::system::system_error&) {  // the test has cancelled the timer
      }
      s.write("the rest");
    }
  }
};

struct drained_by_signal : server {
  explicit drained_by_signal(const config& c, two_parts h) : server(c, h), on_signal(*this, deadline, {SIGUSR1}) {}
  drain_on_signals on_signal;
};

// The coroutine learns of the draining at its next read. The process lives on after the signal.
BOOST_DATA_TEST_CASE(a_reply_that_has_left_in_part_is_finished, data::make(all_models) * data::make({false, true}),
                     kind, by_signal) {
  std::promise<two_parts::pause> promise;
  running<drained_by_signal> srv(config{.model = kind, .threads = {.loops = 2}}, two_parts{&promise});
  client c(srv->port());
  c.send("x");
  BOOST_TEST(c.receive(two_parts::first).size() == two_parts::first);
  const two_parts::pause paused = promise.get_future().get();
  if (by_signal)
    ::kill(::getpid(), SIGUSR1);
  else
    srv->drain(deadline);
  BOOST_TEST(eventually([&] { return is_refused(srv->port()); }));
  // Goes through the main loop, so that it runs after what the main loop tells the connection.
  srv->main_loop().post([paused] { paused.loop->post([paused] { paused.timer->cancel(); }); });
  BOOST_TEST(c.receive_rest() == "the rest");
  BOOST_TEST((c.ended() == ending::orderly));
  c.close();
  srv.join();
  BOOST_TEST(srv->statistics().closed == srv->statistics().opened);
}

/// Notes when the last connection was opened.
struct noting {
  time_point* opened;
  void on_open(connection&) const { *opened = clock::system().now(); }
  void operator()(connection&, bytes) const {}
};

BOOST_AUTO_TEST_CASE(the_time_for_the_end_begins_when_the_waiting_connections_are_accepted) {
  time_point opened{}, then{};
  server srv(config{.model = model::single_reactor}, noting{&opened});
  srv.start();
  event_loop& main = srv.main_loop();
  std::optional<client> waiting;
  main.post([&] {
    (void)main.now();  // it stays the same while posted work runs
    waiting.emplace(srv.port());
  });
  srv.stop_listening();
  main.post([&] { then = main.now(); });
  while (then == time_point{}) main.poll();
  BOOST_TEST((opened > time_point{}));
  BOOST_TEST((then >= opened));
  srv.stop();
  while (!main.finished()) main.poll();
  srv.finish();
}

}  // namespace
}  // namespace test
}  // namespace quintet
