// SPDX-License-Identifier: BSL-1.0
// ends_test: half-close by either side, lingering, and draining.
#include "world.hpp"

#include <quintet/net/stream.hpp>

#include <boost/test/data/test_case.hpp>

#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace quintet;
using namespace quintet::testing;
using namespace std::chrono_literals;
namespace bdata = boost::unit_test::data;

namespace {

struct journal {
  std::string events;
  std::vector<connection_id> open;
};

/// Answers each line by the line in angle brackets. "bye" half-closes. Writes "goodbye" when it drains.
struct lines {
  journal* log;
  void on_open(connection& c) const { log->open.push_back(c.id()); }
  std::size_t operator()(connection& c, bytes in) const {
    std::size_t used = 0;
    for (std::size_t nl; (nl = in.find('\n', used)) != bytes::npos; used = nl + 1) {
      log->events += 'r';
      const bytes line = in.substr(used, nl - used);
      c.write("<" + std::string(line) + ">");
      if (line == "bye") {
        c.shutdown_send();
        BOOST_TEST(!c.write("too late"));
      }
    }
    return used;
  }
  void on_drain(connection& c) const {
    BOOST_TEST(c.draining());
    log->events += 'd';
    c.write("goodbye");
  }
  void on_close(connection&, error_code why) const {
    log->events += why == errc::end_of_stream ? 'e' : why == errc::stopped ? 's' : why ? '?' : 'c';
  }
};

/// The same, but keeps the connection open after the peer's half-close.
struct patient : lines {
  void on_read_eof(connection& c) const {
    log->events += 'E';
    c.write("all read");
  }
};

struct lines_coroutine {
  journal* log;
  awaitable<> operator()(stream& s) const {
    log->open.push_back(s.id());
    std::string rest;
    while (const auto in = co_await s.read()) {
      rest += *in;
      std::size_t used = 0;
      for (std::size_t nl; (nl = rest.find('\n', used)) != bytes::npos; used = nl + 1) {
        const std::string line = rest.substr(used, nl - used);
        const auto answer = co_await s.offload([&] { return "<" + line + ">"; });
        s.write(answer);
      }
      rest.erase(0, used);
    }
    s.write(s.draining() ? "goodbye" : "eof");
  }
};

}  // namespace

BOOST_DATA_TEST_CASE(on_read_eof_leaves_the_end_to_the_handler, bdata::make(shapes), s) {
  journal log;
  world<patient> w(1, s, patient{{&log}});
  const int client = w.connect();
  w.sim.network().send(client, "a\n");
  w.sim.network().shutdown_send(client);
  BOOST_TEST(w.received(client) == "<a>all read");
  w.sim.advance(60s, 1s);
  BOOST_TEST(!w.ended(client));
  BOOST_TEST(!w.server->connections().send(log.open[0], "still here"));
  BOOST_TEST(w.received(client) == "still here");
  BOOST_TEST(!w.server->connections().post(log.open[0], [](connection& c) { c.close(); }));
  w.sim.run_until_quiet();
  BOOST_TEST(w.ended(client));
  BOOST_TEST(log.events == "rEc");
}

BOOST_DATA_TEST_CASE(our_half_close_leaves_the_peer_talking, bdata::make(shapes), s) {
  journal log;
  world<lines> w(1, s, lines{&log});
  const int client = w.connect();
  BOOST_TEST(w.converse(client, "bye\n") == "<bye>");
  BOOST_TEST(w.sim.network().at_end(client));
  w.send(client, "and more\n");
  BOOST_TEST(log.events == "rr");
  BOOST_TEST(w.statistics().closed == 0U);
  BOOST_TEST(!w.server->connections().send(
      log.open[0], "lost"));  // accepted and dropped, as if the peer had closed a moment earlier
  w.sim.network().shutdown_send(client);
  w.sim.run_until_quiet();
  BOOST_TEST(w.received(client).empty());
  BOOST_TEST(log.events == "rre");
}

// The peer does not close: the connection waits for linger_timeout.
BOOST_DATA_TEST_CASE(a_closed_connection_waits_for_its_peer, bdata::make(shapes), s) {
  journal log;
  world<lines> w(1, s, lines{&log}, {.linger_timeout = 3s});
  const int client = w.connect();
  BOOST_TEST(w.converse(client, "a\n") == "<a>");
  BOOST_TEST(!w.server->connections().close(log.open[0]));
  w.sim.advance(2900ms);
  BOOST_TEST(w.ended(client));
  BOOST_TEST(w.statistics().closed == 0U);
  w.sim.advance(200ms);
  BOOST_TEST(w.statistics().closed == 1U);
  BOOST_TEST(log.events.ends_with("c"));
}

BOOST_DATA_TEST_CASE(without_a_linger_timeout_it_waits_for_nobody, bdata::make(shapes), s) {
  journal log;
  world<lines> w(1, s, lines{&log}, {.linger_timeout = 0s});
  w.sim.network().window = 4;  // the rest waits until the client reads, and is sent before the end
  const int client = w.connect();
  w.send(client, "abc\n");
  w.send(client, "def\n");
  BOOST_TEST(!w.server->connections().close(log.open[0]));
  w.sim.run_until_quiet();
  BOOST_TEST(w.statistics().closed == 0U);
  BOOST_TEST(w.received(client) == "<abc><def>");
  BOOST_TEST(w.ended(client));
  BOOST_TEST(w.statistics().closed == 1U);
  BOOST_TEST(log.events.ends_with("c"));
}

namespace {

// Requests that the kernel has received when draining begins are answered; later ones are not.
template <class Handler>
void check_drain(shape s, int seed) {
  journal log;
  world<Handler> w(static_cast<std::uint64_t>(seed), s, Handler{&log});
  std::vector<int> clients;
  std::vector<std::string> got(6);
  for (std::size_t i = 0; i < got.size(); ++i) clients.push_back(w.connect());
  for (std::size_t i = 0; i < got.size(); ++i)
    for (std::size_t n = 0; n < i * 10; ++n) w.sim.network().send(clients[i], std::to_string(n) + "\n");
  for (int turns = 0; turns < seed; ++turns) w.server->main_loop().poll();  // draining begins in the middle of the work
  w.server->connections().drain();
  w.sim.run_until_quiet();
  for (std::size_t i = 0; i < got.size(); ++i) {
    w.sim.network().send(clients[i], "late\n");
    got[i] = w.received(clients[i]);
    std::string expected;
    for (std::size_t n = 0; n < i * 10; ++n) expected += "<" + std::to_string(n) + ">";
    BOOST_TEST(got[i] == expected + "goodbye");
    BOOST_TEST(w.sim.network().at_end(clients[i]));
    BOOST_TEST(!w.sim.network().was_reset(clients[i]));
  }
  const int newcomer = w.connect();  // as if accepted just before the listener closed
  BOOST_TEST(w.received(newcomer) == "goodbye");
  BOOST_TEST(w.ended(newcomer));
}

}  // namespace

BOOST_DATA_TEST_CASE(draining_answers_what_was_received_and_nothing_else, bdata::make(shapes) * bdata::xrange(0, 12), s,
                     seed) {
  check_drain<lines>(s, seed);
  check_drain<lines_coroutine>(s, seed);
}

BOOST_DATA_TEST_CASE(draining_does_not_wait_for_half_a_request, bdata::make(shapes), s) {
  journal log;
  world<lines> w(1, s, lines{&log});
  const int client = w.connect();
  w.send(client, "whole\nha");
  w.server->connections().drain();
  BOOST_TEST(w.received(client) == "<whole>goodbye");
  BOOST_TEST(w.ended(client));
}

// ---- Counters by reason ---------------------------------------------------------------------------------------------

namespace {

constexpr int throws = 100, own_reason = 101;

/// Ends as the first byte says: a number of errc, 0 for no reason, or one of these two.
struct ends_as_told {
  void operator()(connection& c, bytes in) const {
    const int how = in.front();
    if (how == throws) throw std::runtime_error("told to");
    if (how == own_reason) return c.close(make_error_code(boost::system::errc::owner_dead));
    how == 0 ? c.close() : c.close(static_cast<errc>(how));
  }
};

/// Returns the name of the only counter by reason that is not 0.
std::string only_reason(const loop_statistics& s) {
  std::string names;
  loop_statistics::each_reason(
      [&names](std::string_view name, std::uint64_t value) {
        if (value > 0) names.append(name).append(std::to_string(value));
      },
      s);
  return names;
}

std::string reason_of(int how) {
  world<ends_as_told> w(1, shapes[0], ends_as_told{});
  w.send(w.connect(), std::string(1, static_cast<char>(how)));
  w.sim.advance(5s, 1s);
  return only_reason(w.statistics());
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_reason_has_its_counter) {
  const std::map<std::string, std::vector<errc>> expected{
      {"closed_by_peer1", {errc::end_of_stream}},
      {"closed_stopped1", {errc::stopped}},
      {"closed_aborted1", {errc::aborted}},
      {"closed_handler_threw1", {errc::handler_threw}},
      {"closed_first_byte1", {errc::first_byte_timeout}},
      {"closed_idle1", {errc::idle_timeout}},
      {"closed_message_timeout1", {errc::message_timeout}},
      {"closed_send_timeout1", {errc::send_timeout}},
      {"closed_silent1", {errc::heartbeat_timeout}},
      {"closed_input_overflow1", {errc::message_too_big, errc::input_overflow}},
      {"closed_output_overflow1", {errc::output_full, errc::output_overflow}},
      {"closed_protocol_error1",
       {errc::malformed_message, errc::incomplete_message, errc::bad_checksum, errc::stream_truncated}},
      {"closed_for_other_reason1", {errc::no_such_connection, errc::not_placed, errc::connect_timeout}}};
  for (const auto& [name, reasons] : expected)
    for (const errc why : reasons) BOOST_TEST(reason_of(static_cast<int>(why)) == name);
  BOOST_TEST(reason_of(0) == "closed_by_handler1");
  BOOST_TEST(reason_of(throws) == "closed_handler_threw1");
  BOOST_TEST(reason_of(own_reason) == "closed_for_other_reason1");
}

BOOST_DATA_TEST_CASE(ends_that_nobody_names_are_counted_too, bdata::make(shapes), s) {
  for (const std::string_view how : {"closed_by_peer1", "closed_reset1", "closed_drained1", "closed_aborted1"}) {
    journal log;
    world<lines> w(1, s, lines{&log});
    const int client = w.connect();
    BOOST_TEST(w.converse(client, "a\n") == "<a>");
    if (how == "closed_by_peer1") w.sim.network().shutdown_send(client);
    if (how == "closed_reset1") w.sim.network().reset(client);
    if (how == "closed_drained1") w.server->drain(1min);
    if (how == "closed_aborted1") BOOST_TEST(!w.server->connections().abort(log.open[0]));
    w.sim.run_until_quiet();
    w.sim.advance(5s, 1s);
    BOOST_TEST(only_reason(w.statistics()) == how);
  }
}
