// SPDX-License-Identifier: BSL-1.0
// when_sent_test: each who wants to know is told once, in order, whether what was written before has left or why not.
#include "world.hpp"

#include <quintet/net/stream.hpp>

#include <boost/test/data/test_case.hpp>

#include <functional>
#include <memory>
#include <stdexcept>

using namespace quintet;
using namespace quintet::testing;
namespace bdata = boost::unit_test::data;

namespace {

constexpr std::size_t kib = 1024;

struct journal {
  std::vector<std::pair<int, error_code>> told;
  int closed_after = -1;  // how many had been told when on_close was called
  error_code reason;
  bool in_handler = false;
  bool was_within = false;  // one was told from inside the handler
};
using action = std::function<void(connection&, bytes, journal&)>;

void ask(connection& c, journal& log, int number) {
  c.when_sent([&log, number, &loop = c.loop()](error_code ec) {
    BOOST_TEST(loop.in_this_thread());
    log.was_within |= log.in_handler;
    log.told.emplace_back(number, ec);
  });
}

struct callbacks {
  action act;
  journal* log;
  void operator()(connection& c, bytes in) const {
    log->in_handler = true;
    act(c, in, *log);
    log->in_handler = false;
  }
  void on_close(connection&, error_code why) const {
    log->closed_after = static_cast<int>(log->told.size());
    log->reason = why;
  }
};
struct coroutines {
  action act;
  journal* log;
  awaitable<> operator()(stream& s) const { return run(s, act, *log); }
  static awaitable<> run(stream& s, action act, journal& log) {
    while (const auto in = co_await s.read()) {
      log.in_handler = true;
      act(s, *in, log);
      log.in_handler = false;
    }
    log.closed_after = static_cast<int>(log.told.size());
  }
};

/// Runs the test in both flavours.
template <class Test>
void in_both_flavours(Test test) {
  test(std::type_identity<callbacks>());
  test(std::type_identity<coroutines>());
}

/// Each once, in order, first those without an error; returns how many these are.
std::size_t check_order(const journal& log, std::size_t expected, error_code why) {
  BOOST_TEST(log.told.size() == expected);
  std::size_t sent = 0;
  for (std::size_t i = 0; i < log.told.size(); ++i) {
    BOOST_TEST(log.told[i].first == static_cast<int>(i));
    if (!log.told[i].second) {
      BOOST_TEST(sent == i);
      ++sent;
    } else {
      BOOST_TEST(log.told[i].second == why);
    }
  }
  BOOST_TEST(!log.was_within);
  return sent;
}

/// 50 pieces of 10 KiB, of all kinds, with a notice after each.
void write_much(connection& c, bytes, journal& log) {
  const auto shared = std::make_shared<const std::string>(10 * kib, 's');
  for (int i = 0; i < 50; ++i) {
    if (i % 2 == 0)
      c.write(shared);
    else
      c.write(bytes(*shared));
    ask(c, log, i);
  }
}

struct late {
  std::vector<error_code>* told;
  void operator()(connection&, bytes) const {}
  void on_close(connection& c, error_code) const {
    c.write("nobody reads this");
    c.when_sent([out = told](error_code ec) { out->push_back(ec); });
    BOOST_TEST(told->empty());
  }
};

struct offloading {
  journal* log;
  awaitable<> operator()(stream& s) const { return run(s, *log); }
  static awaitable<> run(stream& s, journal& log) {
    while (const auto in = co_await s.read())
      co_await s.offload([&] {
        ask(s, log, 0);
        s.write(*in);
        ask(s, log, 1);
      });
  }
};

const error_code reset_by_peer(ECONNRESET, boost::system::system_category());

}  // namespace

BOOST_DATA_TEST_CASE(all_are_told_when_all_has_left, bdata::make(shapes) * bdata::xrange(5), s, seed) {
  in_both_flavours([&]<class Handler>(std::type_identity<Handler>) {
    journal log;
    world<Handler> w(static_cast<std::uint64_t>(seed), s, Handler{write_much, &log});
    const int client = w.connect();
    BOOST_TEST(w.converse(client, "x").size() == 500 * kib);
    BOOST_TEST(check_order(log, 50, {}) == 50u);
    BOOST_TEST(w.statistics().handler_errors == 0u);
  });
}

// What the network has taken it has taken, though the peer may never look at it.
BOOST_DATA_TEST_CASE(those_before_a_reset_are_sent_and_the_others_are_told_why,
                     bdata::make(shapes) * bdata::xrange(1, 8), s, reads) {
  in_both_flavours([&]<class Handler>(std::type_identity<Handler>) {
    journal log;
    world<Handler> w(1, s, Handler{write_much, &log});
    const int client = w.connect();
    w.send(client, "x");
    std::size_t taken = 0;
    for (int i = 0; i < reads * 3; ++i) {
      taken += w.sim.network().receive(client).size();
      w.sim.run_until_quiet();
    }
    const std::size_t before = log.told.size();
    taken += w.sim.network().receive(client).size();  // no turn follows in which more could leave
    w.sim.network().reset(client);
    w.sim.run_until_quiet();
    const std::size_t sent = check_order(log, 50, reset_by_peer);
    BOOST_TEST(sent == before);
    BOOST_TEST(sent == taken / (10 * kib));
    BOOST_TEST(sent < 50u);
    BOOST_TEST(log.closed_after == 50);
  });
}

BOOST_DATA_TEST_CASE(a_server_that_stops_tells_everybody, bdata::make(shapes), s) {
  in_both_flavours([&]<class Handler>(std::type_identity<Handler>) {
    journal log;
    world<Handler> w(1, s, Handler{write_much, &log});
    w.send(w.connect(), "x");
    w.stop();
    BOOST_TEST(check_order(log, 50, errc::stopped) < 50u);
    BOOST_TEST(log.closed_after == 50);
  });
}

BOOST_DATA_TEST_CASE(with_nothing_written_it_is_told_soon_and_not_at_once, bdata::make(shapes), s) {
  in_both_flavours([&]<class Handler>(std::type_identity<Handler>) {
    journal log;
    world<Handler> w(1, s,
                     Handler{[](connection& c, bytes in, journal& l) {
                               ask(c, l, 0);
                               c.write(in);
                               ask(c, l, 1);
                               c.flush();
                               ask(c, l, 2);
                             },
                             &log});
    BOOST_TEST(w.converse(w.connect(), "x") == "x");
    BOOST_TEST(check_order(log, 3, {}) == 3u);
  });
}

// It comes behind what a batch before has left to wait.
BOOST_DATA_TEST_CASE(what_waits_from_before_counts, bdata::make(shapes), s) {
  in_both_flavours([&]<class Handler>(std::type_identity<Handler>) {
    journal log;
    world<Handler> w(1, s,
                     Handler{[](connection& c, bytes in, journal& l) {
                               if (in == "a") c.write(std::string(100 * kib, 'a'));
                               if (in == "b") ask(c, l, 0);
                             },
                             &log});
    const int client = w.connect();
    w.send(client, "a");
    w.send(client, "b");
    BOOST_TEST(log.told.empty());
    std::size_t received = 0;
    while (log.told.empty()) {
      const std::size_t more = w.sim.network().receive(client).size();
      BOOST_REQUIRE(more > 0);
      received += more;
      w.sim.run_until_quiet();
    }
    BOOST_TEST(received + w.sim.network().receive(client).size() == 100 * kib);
  });
}

BOOST_DATA_TEST_CASE(a_short_reply_of_a_connection_with_limits_of_its_own, bdata::make(shapes), s) {
  in_both_flavours([&]<class Handler>(std::type_identity<Handler>) {
    journal log;
    world<Handler> w(1, s,
                     Handler{[](connection& c, bytes in, journal& l) {
                               c.write(in);
                               ask(c, l, static_cast<int>(l.told.size()));
                               c.set_limits({.max_input = 1000});
                             },
                             &log});
    const int client = w.connect();
    for (int i = 0; i < 3; ++i) BOOST_TEST(w.converse(client, "x") == "x");
    BOOST_TEST(check_order(log, 3, {}) == 3u);
  });
}

BOOST_DATA_TEST_CASE(a_handler_that_fails_has_sent_nothing, bdata::make(shapes), s) {
  in_both_flavours([&]<class Handler>(std::type_identity<Handler>) {
    journal log;
    world<Handler> w(1, s,
                     Handler{[](connection& c, bytes in, journal& l) {
                               c.write(in);
                               ask(c, l, 0);
                               l.in_handler = false;
                               throw std::runtime_error("asked to");
                             },
                             &log});
    BOOST_TEST(w.converse(w.connect(), "x").empty());
    BOOST_TEST(check_order(log, 1, errc::handler_threw) == 0u);
  });
}

// close(why) replaces the reason of what happens afterwards: also by none, which must not look like success.
BOOST_DATA_TEST_CASE(close_with_a_reason_is_told, bdata::make(shapes) * bdata::xrange(2), s, with_reason) {
  in_both_flavours([&]<class Handler>(std::type_identity<Handler>) {
    journal log;
    world<Handler> w(1, s,
                     Handler{[with_reason](connection& c, bytes in, journal& l) {
                               write_much(c, in, l);
                               c.close(with_reason ? make_error_code(errc::malformed_message) : error_code());
                             },
                             &log});
    const int client = w.connect();
    w.send(client, "x");
    w.sim.network().reset(client);
    w.sim.run_until_quiet();
    BOOST_TEST(check_order(log, 50, with_reason ? errc::malformed_message : errc::end_of_stream) < 50u);
  });
}

BOOST_DATA_TEST_CASE(one_that_throws_is_counted_and_hinders_nobody, bdata::make(shapes), s) {
  in_both_flavours([&]<class Handler>(std::type_identity<Handler>) {
    journal log;
    world<Handler> w(1, s,
                     Handler{[](connection& c, bytes in, journal& l) {
                               c.write(in);
                               ask(c, l, 0);
                               c.when_sent([](error_code) { throw std::runtime_error("asked to"); });
                               ask(c, l, 1);
                             },
                             &log});
    const int client = w.connect();
    BOOST_TEST(w.converse(client, "x") == "x");
    BOOST_TEST(check_order(log, 2, {}) == 2u);
    BOOST_TEST(w.statistics().handler_errors == 1u);
    BOOST_TEST(!w.ended(client));
  });
}

// Also what nobody will send any more, asked for when the connection is over.
BOOST_DATA_TEST_CASE(asked_for_in_on_close_it_is_told, bdata::make(shapes), s) {
  std::vector<error_code> told;
  world<late> w(1, s, late{&told});
  const int client = w.connect();
  w.sim.network().reset(client);
  w.sim.run_until_quiet();
  BOOST_TEST(told == std::vector<error_code>{reset_by_peer}, boost::test_tools::per_element());
}

// From another thread than the loop's a coroutine's work may write, and ask.
BOOST_DATA_TEST_CASE(offloaded_work_may_ask, bdata::make(shapes), s) {
  journal log;
  world<offloading> w(1, s, offloading{&log});
  BOOST_TEST(w.converse(w.connect(), "x") == "x");
  BOOST_TEST(check_order(log, 2, {}) == 2u);
}
