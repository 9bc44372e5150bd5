// SPDX-License-Identifier: BSL-1.0
// stream_messages_test: read_until, read_exactly and read_message: what they return, when they wait, how they end.
#include <quintet/net/framed.hpp>
#include <quintet/net/stream.hpp>

#include "world.hpp"

#include <boost/test/data/test_case.hpp>

#include <functional>
#include <stdexcept>

using namespace quintet;
using namespace quintet::testing;
namespace bdata = boost::unit_test::data;

namespace reads {  // not without a name: g++ complains about coroutines in test cases that are templates

struct journal {
  std::string events;
  std::vector<error_code> errors;
  std::size_t reads = 0, waits = 0;
};

/// Passes on an awaiter, and counts how often it makes the coroutine wait.
template <class Awaiter>
struct counted {
  Awaiter of;
  journal* log;
  bool await_ready() {
    ++log->reads;
    return of.await_ready();
  }
  void await_suspend(std::coroutine_handle<> waiting) {
    ++log->waits;
    of.await_suspend(waiting);
  }
  auto await_resume() { return of.await_resume(); }
};
template <class Awaiter>
counted(Awaiter, journal*) -> counted<Awaiter>;

using script = std::function<awaitable<>(stream&, journal*)>;

/// Runs what a test gives it.
struct player {
  journal* log;
  script what;
  awaitable<> operator()(stream& s) const { return what(s, log); }
};

struct fixture {
  fixture(shape s, int seed, script what, const connection_limits& limits = {})
      : w(static_cast<std::uint64_t>(seed), s, player{&log, std::move(what)}, limits), client(w.connect()) {}
  void finish(bytes data) {
    w.sim.network().send(client, data);
    w.sim.network().shutdown_send(client);
    w.sim.run_until_quiet();
  }
  error_code only_error() const { return log.errors.size() == 1 ? log.errors[0] : make_error_code(errc::no_pidfd); }
  journal log;
  world<player> w;
  int client;
};

// A line that says how many bytes follow, which come back.
awaitable<> bodies(stream& s, journal* log) {
  while (const auto line = co_await counted(s.read_until("\r\n"), log)) {
    BOOST_TEST(line->ends_with("\r\n"));
    const auto body = co_await counted(s.read_exactly(std::stoul(std::string(*line))), log);
    if (!body) {
      log->errors.push_back(body.error());
      co_return;
    }
    s.write(*body);
  }
}

// Lines until there is an error.
awaitable<> lines(stream& s, journal* log) {
  for (;;) {
    const auto line = co_await counted(s.read_until("\n", 10), log);
    if (!line) {
      log->errors.push_back(line.error());
      co_return;
    }
    log->events += *line;
  }
}

const auto seeds = bdata::xrange(0, 5);

}  // namespace reads

using namespace reads;

BOOST_DATA_TEST_CASE(lines_and_bodies_however_they_are_cut, bdata::make(shapes) * bdata::xrange(0, 20), s, seed) {
  fixture f(s, seed, bodies);
  std::string stream, expected;
  for (int i = 0; i < 200; ++i) {
    const std::string body(static_cast<std::size_t>(i * i % 997), static_cast<char>('a' + i % 26));
    stream += std::to_string(body.size()) + "\r\n" + body;
    expected += body;
  }
  BOOST_TEST((f.w.converse(f.client, stream) == expected));
  BOOST_TEST(f.log.reads == 401U);
}

// A wait gives the baton back, and it comes again with input: so there are no more of them than of receives.
BOOST_DATA_TEST_CASE(what_has_arrived_is_returned_without_waiting, bdata::make(shapes) * seeds, s, seed) {
  fixture f(s, seed, lines);
  std::string stream;
  for (int i = 0; i < 1000; ++i) stream += "line\n";
  f.w.send(f.client, stream);
  BOOST_TEST((f.log.events == stream));
  BOOST_TEST(f.log.reads == 1001U);
  BOOST_TEST(f.log.waits <= f.w.statistics().receives + 1);
  const std::size_t before = f.log.waits;
  f.w.sim.network().window = 1 << 20;
  f.w.send(f.client, "a\nb\nc\nd\n");
  BOOST_TEST(f.log.reads == 1005U);
  BOOST_TEST(f.log.waits - before <= 4U);
}

BOOST_DATA_TEST_CASE(all_kinds_of_reads_share_the_input, bdata::make(shapes) * seeds, s, seed) {
  fixture f(s, seed, [](stream& st, journal* log) -> awaitable<> {
    const auto all = co_await counted(st.read_exactly(19), log);  // everything is there
    BOOST_REQUIRE((all && *all == "0123456789012345678"));
    varint_prefix wire;
    BOOST_TEST(*co_await counted(st.read_until(";"), log) == "header;");
    BOOST_TEST(*co_await counted(st.read_message(wire), log) == "abc");
    BOOST_TEST(*co_await counted(st.read_exactly(0), log) == "");
    BOOST_TEST(*co_await counted(st.read_message(wire), log) == "");
    BOOST_TEST(*co_await counted(st.read_exactly(2), log) == "xy");
    std::string rest;
    while (const auto more = co_await st.read()) rest += *more;
    log->events = rest;
  });
  f.w.send(f.client, "0123456789012345678");
  f.w.sim.network().window = 1 << 20;
  f.w.sim.network().send(f.client, bytes("header;\3abc\0xyrest", 18));
  f.w.sim.run_until_quiet();
  f.w.sim.network().shutdown_send(f.client);
  f.w.sim.run_until_quiet();
  BOOST_TEST(f.log.events == "rest");
}

BOOST_DATA_TEST_CASE(one_that_is_too_long_is_an_error_and_stays_readable, bdata::make(shapes) * seeds, s, seed) {
  fixture f(s, seed, [](stream& st, journal* log) -> awaitable<> {
    co_await lines(st, log);
    std::string rest;
    while (const auto in = co_await st.read()) rest += *in;
    log->events += "[" + rest + "]";
  });
  f.finish("0123456789\n0123456789x\nmore");
  BOOST_TEST(f.only_error() == make_error_code(errc::message_too_big));
  BOOST_TEST(f.log.events == "0123456789\n[0123456789x\nmore]");
}

BOOST_DATA_TEST_CASE(a_clean_end_is_told_from_one_within_a_message, bdata::make(shapes) * seeds, s, seed) {
  for (const bytes tail : {"", "x"}) {
    fixture f(s, seed, lines);
    f.finish("one\n" + std::string(tail));
    BOOST_TEST(f.only_error() == make_error_code(tail.empty() ? errc::end_of_stream : errc::incomplete_message));
    BOOST_TEST(f.w.ended(f.client));
  }
  fixture body(s, seed, bodies);
  body.finish("5\r\nfour");
  BOOST_TEST(body.only_error() == make_error_code(errc::incomplete_message));
  fixture nothing(s, seed, bodies);
  nothing.finish("5\r\n");
  BOOST_TEST(nothing.only_error() == make_error_code(errc::end_of_stream));
}

BOOST_DATA_TEST_CASE(the_end_within_a_message_of_several_frames, bdata::make(shapes) * seeds, s, seed) {
  const auto play = [](stream& st, journal* log) -> awaitable<> {
    chunked wire(length_prefix<1>(3), {.receive = true});
    for (;;) {
      const auto message = co_await st.read_message(wire);
      if (!message) {
        log->errors.push_back(message.error());
        co_return;
      }
      log->events += *message;
    }
  };
  fixture f(s, seed, play);
  f.finish(bytes("\4\1abc\2\0d\4\1xyz", 13));
  BOOST_TEST(f.log.events == "abcd");
  BOOST_TEST(f.only_error() == make_error_code(errc::incomplete_message));
}

BOOST_DATA_TEST_CASE(who_waits_for_a_message_is_told_why_there_is_none, bdata::make(shapes), s) {
  fixture stopped(s, 1, lines);
  stopped.w.send(stopped.client, "half");
  stopped.w.stop();
  BOOST_TEST(stopped.only_error() == make_error_code(errc::stopped));
  fixture closed(s, 1, lines);
  closed.w.send(closed.client, "half");
  BOOST_TEST(!closed.w.server->connections().close(closed.w.server->connections().all().at(0)));
  closed.w.sim.run_until_quiet();
  closed.w.sim.network().close(closed.client);
  closed.w.sim.run_until_quiet();
  BOOST_TEST(closed.only_error() == make_error_code(errc::end_of_stream));
  fixture reset(s, 1, bodies);
  reset.w.send(reset.client, "5\r\nfour");
  reset.w.sim.network().reset(reset.client);
  reset.w.sim.run_until_quiet();
  BOOST_TEST(reset.only_error() == error_code(ECONNRESET, boost::system::system_category()));
}

BOOST_DATA_TEST_CASE(draining_does_not_wait_for_half_a_message, bdata::make(shapes), s) {
  for (const bytes sent : {"5\r\nfour", "5\r\nfive.5\r\nfour"}) {
    fixture f(s, 1, bodies);
    f.w.send(f.client, sent);
    f.w.server->connections().drain();
    f.w.received(f.client);
    BOOST_TEST(f.only_error() == make_error_code(errc::incomplete_message));
    BOOST_TEST(f.w.ended(f.client));
  }
}

BOOST_DATA_TEST_CASE(more_than_max_input_is_refused_without_waiting, bdata::make(shapes), s) {
  fixture f(s, 1, bodies, {.max_input = 1000});
  f.w.send(f.client, "1000\r\n");
  f.w.send(f.client, std::string(1000, 'x'));
  f.w.send(f.client, "1001\r\n");
  BOOST_TEST(f.only_error() == make_error_code(errc::message_too_big));
  fixture endless(s, 1,
                  [](stream& st, journal* log) -> awaitable<> {
                    const auto line = co_await st.read_until("\n", largest_max_message);
                    log->errors.push_back(line.error());
                  },
                  {.max_input = 1000});
  endless.w.send(endless.client, std::string(5000, 'x'));
  BOOST_TEST(endless.only_error() == make_error_code(errc::message_too_big));
}

BOOST_DATA_TEST_CASE(a_big_message_wakes_the_coroutine_once, bdata::make(shapes) * seeds, s, seed) {
  fixture f(s, seed, bodies);
  const std::string big(1 << 20, 'b');
  f.w.send(f.client, std::to_string(big.size()) + "\r\n");
  const auto before = f.w.statistics();
  f.w.sim.network().send(f.client, big);
  BOOST_TEST((f.w.received(f.client) == big));
  BOOST_TEST(f.w.statistics().receives - before.receives > 10U);
  BOOST_TEST(f.w.statistics().batches - before.batches == 1U);
  BOOST_TEST(f.log.waits <= 4U);
}

BOOST_DATA_TEST_CASE(what_was_written_leaves_before_the_wait, bdata::make(shapes), s) {
  fixture f(s, 1, [](stream& st, journal*) -> awaitable<> {
    st.write("your name? ");
    while (const auto name = co_await st.read_until("\n")) st.write("hello " + std::string(*name));
    st.write("bye");
  });
  BOOST_TEST(f.w.received(f.client) == "your name? ");
  BOOST_TEST(f.w.converse(f.client, "Ann\nBo") == "hello Ann\n");
  f.finish("b\n");
  BOOST_TEST(f.w.received(f.client) == "hello Bob\nbye");
}

BOOST_DATA_TEST_CASE(what_a_codec_throws_comes_out_of_the_read, bdata::make(shapes) * bdata::make({false, true}), s,
                     at_once) {
  struct faulty {
    frame parse(bytes in) const {
      if (in.size() < 3) return frame::incomplete(3);
      throw std::runtime_error("as asked");
    }
  };
  fixture f(s, 1, [](stream& st, journal* log) -> awaitable<> {
    faulty wire;
    try {
      co_await st.read_message(wire);
    } catch (const std::runtime_error&) {
      log->events += 't';
    }
    const auto there = co_await st.read();
    log->events += *there;
  });
  if (!at_once) f.w.send(f.client, "a");
  f.w.send(f.client, at_once ? "abc" : "bc");
  BOOST_TEST(f.log.events == "tabc");
}

BOOST_DATA_TEST_CASE(value_throws_the_error, bdata::make(shapes), s) {
  fixture f(s, 1, [](stream& st, journal* log) -> awaitable<> {
    try {
      for (;;) {
        const auto line = co_await st.read_until("\n");
        log->events += line.value();
      }
    } catch (const boost::system::system_error& e) {
      log->errors.push_back(e.code());
    }
  });
  f.finish("a\nb\n");
  BOOST_TEST(f.log.events == "a\nb\n");
  BOOST_TEST(f.only_error() == make_error_code(errc::end_of_stream));
}

BOOST_DATA_TEST_CASE(an_empty_delimiter_cannot_be, bdata::make(shapes), s) {
  fixture f(s, 1, [](stream& st, journal* log) -> awaitable<> {
    try {
      co_await st.read_until("");
    } catch (const std::invalid_argument&) {
      log->events = "refused";
    }
  });
  BOOST_TEST(f.log.events == "refused");
}
