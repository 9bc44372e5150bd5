// SPDX-License-Identifier: BSL-1.0
// connection_handoff_test: who has the baton, and what waits for it, with a test in the place of the thread model.
#include <quintet/net/connection/connection_handoff.hpp>

#include "scripted_session.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <stdexcept>

using namespace quintet;
using namespace quintet::detail;
using namespace quintet::testing;

namespace {

using texts = std::vector<std::string>;

std::size_t echo(connection& c, bytes in) {
  c.write(in);
  return in.size();
}

std::ptrdiff_t times(const session_world& w, const std::string& call) { return std::ranges::count(w.wire.calls, call); }

}  // namespace

BOOST_AUTO_TEST_CASE(here_a_batch_runs_within_the_engines_call) {
  session_world w({.runs_here = true});
  w.session.handler = echo;
  w.turn([&] {
    w.session.channel().on_received("abc");
    BOOST_TEST(w.wire.sent == "abc");
    BOOST_TEST(!w.core().baton_is_out());
  });
  BOOST_TEST(w.core().is_idle());
}

BOOST_AUTO_TEST_CASE(elsewhere_the_baton_is_out_until_the_loop_has_it_back) {
  session_world w({});
  w.session.handler = echo;
  std::string engines = "abc";
  w.arrive(engines);
  engines = "xyz";  // the engine's memory has other bytes by now
  BOOST_TEST(w.core().baton_is_out());
  BOOST_TEST(w.session.batches.empty());
  w.session.run_dispatched();
  BOOST_TEST((w.session.batches == texts{"abc"}));
  BOOST_TEST(w.wire.sent == "");  // that is the loop's to do
  BOOST_TEST(w.core().baton_is_out());
  w.turn([] {});
  BOOST_TEST(w.wire.sent == "abc");
  BOOST_TEST(!w.core().baton_is_out());
}

BOOST_AUTO_TEST_CASE(what_arrives_meanwhile_is_the_next_batch) {
  session_world w({});
  w.session.handler = [](connection&, bytes) { return std::size_t{1}; };
  w.arrive("abc");
  w.arrive("de");
  w.arrive("f");
  BOOST_TEST(w.session.dispatched.size() == 1U);  // exactly one queue has the baton
  w.session.run_dispatched();
  BOOST_TEST(w.session.dispatched.empty());
  w.turn([] {});
  BOOST_TEST(w.session.dispatched.size() == 1U);
  w.session.run_dispatched();
  BOOST_TEST((w.session.batches == texts{"abc", "bcdef"}));
}

BOOST_AUTO_TEST_CASE(the_end_waits_for_the_baton) {
  session_world w({});
  w.arrive("abc");
  const error_code why(ECONNRESET, boost::system::system_category());
  w.turn([&] { w.core().fail(why); });
  BOOST_TEST(w.core().has_ended());
  BOOST_TEST(times(w, "remove") == 1);
  BOOST_TEST(times(w, "close") == 0);  // the handler may still look at the handle
  BOOST_TEST(w.session.dispatched.size() == 1U);
  w.session.run_dispatched();
  BOOST_TEST(w.session.closed.empty());
  w.turn([] {});
  BOOST_TEST(times(w, "close") == 1);
  w.session.run_dispatched();
  BOOST_TEST((w.session.closed == std::vector{why}));
  BOOST_TEST(!w.session.is_destroyed);
  w.turn([] {});
  w.turn([] {});
  BOOST_TEST(w.session.is_destroyed);
}

BOOST_AUTO_TEST_CASE(a_close_from_outside_waits_for_the_baton_and_for_the_reply) {
  session_world w({});
  w.session.handler = echo;
  w.arrive("abc");
  w.turn([&] { connection_handoff::ask_to_close(w.core()); });
  BOOST_TEST(!w.core().is_closing());
  w.session.run_dispatched();
  w.wire.answers = {{1}};
  w.turn([] {});
  BOOST_TEST(w.core().is_closing());
  BOOST_TEST(!w.core().has_ended());
  w.arrive("too late");
  BOOST_TEST(w.session.dispatched.empty());
  w.turn([&] { w.session.channel().on_sendable(); });
  BOOST_TEST(w.wire.sent == "abc");
  BOOST_TEST(w.core().has_ended());
  BOOST_TEST(times(w, "reset_when_closed") == 0);
}

BOOST_AUTO_TEST_CASE(a_handler_that_throws_ends_the_connection_when_the_baton_is_back) {
  session_world w({});
  w.session.handler = [](connection& c, bytes) -> std::size_t {
    c.write("half a reply");
    throw std::runtime_error("handler");
  };
  w.arrive("abc");
  w.session.run_dispatched();
  BOOST_TEST(!w.core().has_ended());
  w.turn([] {});
  BOOST_TEST(w.core().has_ended());
  BOOST_TEST(w.core().reason() == error_code(errc::handler_threw));
  BOOST_TEST(w.wire.sent == "");
  BOOST_TEST(w.loop.counters().handler_errors.value() == 1U);
}

BOOST_AUTO_TEST_CASE(a_handler_is_called_again_when_as_much_is_there_as_it_requires) {
  session_world w({});
  w.session.handler = [](connection& c, bytes in) {
    if (in.size() >= 6) return in.size();
    c.require_input(6);
    return std::size_t{0};
  };
  w.arrive("abc");
  w.session.run_dispatched();
  w.turn([] {});
  w.arrive("de");
  BOOST_TEST(w.session.dispatched.empty());
  w.arrive("f");
  BOOST_TEST_REQUIRE(w.session.dispatched.size() == 1U);
  w.session.run_dispatched();
  BOOST_TEST((w.session.batches == texts{"abc", "abcdef"}));
}

// ---- Draining -------------------------------------------------------------------------------------------------------

namespace {

/// One batch is at the handler, the next one is pending, and then the connection is throttled and drained.
struct throttled_drain {
  throttled_drain() {
    w.session.handler = echo;
    w.arrive("first");
    w.arrive("second");
    w.turn([this] { w.core().throttle(1); });
    w.session.run_dispatched();
    w.turn([this] { w.core().drain(); });
  }

  session_world w{{}};
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_drain_waits_for_pending_input_of_a_throttled_connection) {
  throttled_drain d;
  session_world& w = d.w;
  BOOST_TEST(!w.core().has_ended());
  BOOST_TEST(w.session.dispatched.empty());  // throttled: the handler gets no input
  w.turn([&] { w.core().throttle(-1); });
  BOOST_TEST_REQUIRE(w.session.dispatched.size() == 1U);
  w.session.run_dispatched();
  w.turn([] {});
  BOOST_TEST((w.session.batches == texts{"first", "second"}));
  BOOST_TEST(w.wire.sent == "firstsecond");
  BOOST_TEST(w.core().has_ended());
  w.session.run_dispatched();
  BOOST_TEST((w.session.closed == std::vector{error_code()}));
}

BOOST_AUTO_TEST_CASE(the_peers_end_does_not_end_the_drain_of_a_throttled_connection) {
  throttled_drain d;
  session_world& w = d.w;
  w.turn([&] { w.session.channel().on_receive_end({}); });
  BOOST_TEST(!w.core().has_ended());
  w.turn([&] { w.core().throttle(-1); });
  BOOST_TEST_REQUIRE(w.session.dispatched.size() == 1U);
  w.session.run_dispatched();
  w.turn([] {});
  BOOST_TEST((w.session.batches == texts{"first", "second"}));
  BOOST_TEST(w.core().has_ended());
}

// As at the peer's end: no byte can come that would decide the class.
BOOST_AUTO_TEST_CASE(a_drain_shows_the_handler_bytes_whose_class_is_undecided) {
  session_world w({});
  w.session.handler = echo;
  w.core().enabled_.classify = true;
  w.session.chosen = connection_class::undecided;
  w.arrive("request");
  BOOST_TEST(w.session.dispatched.empty());
  w.turn([&] { w.core().throttle(1); });
  w.turn([&] { w.core().drain(); });
  BOOST_TEST(w.session.dispatched.empty());
  w.turn([&] { w.core().throttle(-1); });
  BOOST_TEST_REQUIRE(w.session.dispatched.size() == 1U);
  w.session.run_dispatched();
  w.turn([] {});
  BOOST_TEST((w.session.batches == texts{"request"}));
  BOOST_TEST(w.wire.sent == "request");
  BOOST_TEST(w.core().has_ended());
}

// Nobody but the handler could end the pause, and the drain would last until its deadline.
BOOST_AUTO_TEST_CASE(a_drain_does_not_wait_for_a_handler_that_has_paused_reading) {
  session_world w({});
  w.session.handler = [](connection& c, bytes in) {
    c.pause_reading();
    return in.size();
  };
  w.arrive("first");
  w.arrive("second");
  w.session.run_dispatched();
  w.turn([&] { w.core().drain(); });
  BOOST_TEST(w.core().has_ended());
  BOOST_TEST((w.session.batches == texts{"first"}));
}

// ---- Draining -------------------------------------------------------------------------------------------------------

// What arrives need not be as long as what is delivered: a stream can have frames, or be compressed.
BOOST_AUTO_TEST_CASE(a_drain_is_over_when_the_stream_says_so_however_many_bytes_it_has_delivered) {
  session_world w({.runs_here = true}, {.linger_timeout = {}}, {.unread = 100, .more = true});
  w.turn([&] { w.core().drain(); });
  w.arrive("ab");
  w.arrive("cd");
  BOOST_TEST(!w.core().has_ended());
  w.wire.more = false;
  w.arrive("ef");
  w.arrive("later");
  BOOST_TEST((w.session.batches == texts{"ab", "cd", "ef"}));
  BOOST_TEST(w.core().has_ended());
}

BOOST_AUTO_TEST_CASE(a_drain_delivers_more_bytes_than_had_arrived_if_the_stream_makes_them_of_these) {
  session_world w({.runs_here = true}, {.linger_timeout = {}}, {.unread = 1, .more = true});
  w.turn([&] { w.core().drain(); });
  w.arrive("abc");
  w.arrive("def");
  BOOST_TEST((w.session.batches == texts{"abc", "def"}));
}

// ---- After a failed send --------------------------------------------------------------------------------------------

// The peer waits for a reply that was lost, and a timer of the server's posts for ever.
BOOST_AUTO_TEST_CASE(calls_from_outside_do_not_keep_a_connection_that_cannot_send) {
  for (const bool here : {true, false}) {
    session_world w({.runs_here = here}, {.linger_timeout = std::chrono::seconds(1)}, {.answers = {{0, ENOBUFS}}});
    const auto run = [&] {
      w.turn([] {});
      while (!w.session.dispatched.empty()) w.turn([&] { w.session.run_dispatched(); });
    };
    w.session.handler = echo;
    w.arrive("abc");
    run();
    int calls = 0;
    for (int i = 0; i < 4 && !w.core().has_ended(); ++i) {
      w.time.advance(std::chrono::milliseconds(300));
      (void)w.host.registry.post(w.core().id_, [&](connection&) { ++calls; });
      run();
    }
    for (int i = 0; i < 3; ++i) run();  // a deadline counts only after a second look
    BOOST_TEST(calls >= 3);
    BOOST_TEST(w.core().has_ended());
    BOOST_TEST(w.core().reason() == system_error_code(ENOBUFS));
  }
}

// The time of a handler is not the peer's: what it sends meanwhile is received afterwards.
BOOST_AUTO_TEST_CASE(a_peer_that_cannot_receive_is_not_silent_while_the_handler_runs) {
  session_world w({}, {.linger_timeout = std::chrono::seconds(1)}, {.answers = {{0, ENOBUFS}}});
  w.session.handler = echo;
  w.arrive("abc");
  w.session.run_dispatched();
  w.turn([] {});
  w.arrive("def");
  w.time.advance(std::chrono::seconds(5));
  w.session.run_dispatched();
  w.turn([] {});
  w.turn([] {});
  w.time.advance(std::chrono::milliseconds(900));
  w.turn([] {});
  BOOST_TEST(!w.core().has_ended());
  for (int i = 0; i < 3; ++i) {
    w.time.advance(std::chrono::milliseconds(100));
    w.turn([] {});
  }
  BOOST_TEST(w.core().has_ended());
}
