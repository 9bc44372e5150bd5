// SPDX-License-Identifier: BSL-1.0
// in_place_test: what a big message lacks is received where it belongs, whatever happens meanwhile.
#include <quintet/net/framed.hpp>
#include <quintet/net/stream.hpp>

#include "world.hpp"

#include <boost/test/data/test_case.hpp>

#include <memory>

using namespace quintet;
using namespace quintet::testing;
using namespace std::chrono_literals;
namespace bdata = boost::unit_test::data;

namespace big {  // not without a name: g++ complains about coroutines in test cases that are templates

constexpr std::size_t kib = 1024;
using wire_format = length_prefix<4>;
constexpr wire_format wire(2048 * kib);

struct journal {
  std::size_t messages = 0;
  std::vector<error_code> closed;
};

struct echo {
  journal* log;
  void operator()(connection& c, bytes message) const {
    ++log->messages;
    BOOST_TEST(!write_message(c, wire, message));
  }
  void on_close(connection&, error_code why) const { log->closed.push_back(why); }
};

awaitable<> echo_messages(stream& s, journal* log) {
  wire_format reads = wire;
  for (;;) {
    const auto message = co_await s.read_message(reads);
    if (!message) {
      log->closed.push_back(message.error());
      co_return;
    }
    ++log->messages;
    BOOST_TEST(!write_message(s, wire, *message));
  }
}
struct echo_coroutine {
  journal* log;
  awaitable<> operator()(stream& s) const { return echo_messages(s, log); }
};

std::string numbered(std::size_t size) {
  static const std::string all = [] {  // once: under a sanitizer it takes long
    std::string text;
    for (std::size_t i = 0; text.size() < 1024 * kib; ++i) text.append(std::to_string(i)).append(",");
    return text;
  }();
  return all.substr(0, size);
}

std::string framed_as(bytes message) {
  message_buffer m(message);
  BOOST_REQUIRE(!wire.wrap(m));
  return std::string(m.data());
}

template <class Handler>
struct fixture {
  fixture(shape s, int seed, Handler handler, const connection_limits& limits = {})
      : w(static_cast<std::uint64_t>(seed), s, std::move(handler), limits) {
    w.sim.network().window = 128 * kib;
    client = w.connect();
  }
  connection_registry& registry() { return w.server->connections(); }
  connection_id id() { return registry().all().at(0); }
  std::uint64_t in_place() { return w.statistics().bytes_in_place; }
  /// So much of it that the rest is being received in place.
  void begin(bytes message) { w.send(client, message.substr(0, 100 * kib)); }
  world<Handler> w;
  int client;
};

/// Calls f(fixture, journal) with either flavour.
template <class F>
void each_flavour(shape s, int seed, const connection_limits& limits, F f) {
  {
    journal log;
    fixture with(s, seed, framed(wire, echo{&log}), limits);
    f(with, log);
  }
  journal log;
  fixture with(s, seed, echo_coroutine{&log}, limits);
  f(with, log);
}

const auto seeds = bdata::xrange(0, 2);

}  // namespace big

using namespace big;

BOOST_DATA_TEST_CASE(big_and_small_ones_in_any_order, bdata::make(shapes) * bdata::xrange(0, 5), s, seed) {
  each_flavour(s, seed, {}, [&](auto& f, journal& log) {
    std::mt19937 random(static_cast<unsigned>(seed));
    std::string stream;
    for (int i = 0; i < 30; ++i) stream += framed_as(numbered(random() % (i % 5 ? 300 : 700 * kib)));
    BOOST_TEST((f.w.converse(f.client, stream) == stream));
    BOOST_TEST(log.messages == 30U);
    BOOST_TEST(f.in_place() > 0U);
    BOOST_TEST(f.in_place() < f.w.statistics().bytes_received);
    BOOST_TEST(f.w.statistics().bytes_received == stream.size());
  });
}

BOOST_DATA_TEST_CASE(what_lacks_little_is_not_worth_it, bdata::make(shapes) * seeds, s, seed) {
  each_flavour(s, seed, {}, [&](auto& f, journal&) {
    std::string stream;
    for (int i = 0; i < 50; ++i) stream += framed_as(numbered(16 * kib - 4));
    BOOST_TEST((f.w.converse(f.client, stream) == stream));
    BOOST_TEST(f.in_place() == 0U);
  });
}

BOOST_DATA_TEST_CASE(nearly_all_of_a_lone_one_is_in_place, bdata::make(shapes) * seeds, s, seed) {
  each_flavour(s, seed, {}, [&](auto& f, journal&) {
    const std::string stream = framed_as(numbered(1024 * kib));
    f.begin(stream);
    const std::uint64_t before = f.in_place();
    f.w.send(f.client, stream.substr(100 * kib));
    BOOST_TEST(f.in_place() - before == stream.size() - 100 * kib);
    BOOST_TEST((f.w.received(f.client) == stream));
  });
}

// It begins behind the end of the one that is received in place, and is a message as well.
BOOST_DATA_TEST_CASE(no_byte_of_the_next_one_is_taken, bdata::make(shapes) * seeds, s, seed) {
  each_flavour(s, seed, {}, [&](auto& f, journal& log) {
    const std::string one = framed_as(numbered(200 * kib));
    f.begin(one);
    f.w.send(f.client, one.substr(100 * kib) + framed_as("tail") + one.substr(0, 2));
    BOOST_TEST(log.messages == 2U);
    f.w.send(f.client, one.substr(2));
    BOOST_TEST((f.w.received(f.client) == one + framed_as("tail") + one));
  });
}

BOOST_DATA_TEST_CASE(an_end_within_it_is_told, bdata::make(shapes) * seeds, s, seed) {
  each_flavour(s, seed, {}, [&](auto& f, journal& log) {
    const std::string one = framed_as(numbered(1024 * kib));
    f.begin(one);
    f.w.sim.network().send(f.client, one.substr(100 * kib, 500 * kib));
    f.w.sim.network().shutdown_send(f.client);
    f.w.sim.run_until_quiet();
    BOOST_TEST(f.in_place() >= 500 * kib);
    BOOST_TEST((log.closed == std::vector{make_error_code(errc::incomplete_message)}));
  });
}

BOOST_DATA_TEST_CASE(a_reset_within_it_is_told, bdata::make(shapes) * seeds, s, seed) {
  each_flavour(s, seed, {}, [&](auto& f, journal& log) {
    f.begin(framed_as(numbered(1024 * kib)));
    f.w.sim.network().reset(f.client);
    f.w.sim.run_until_quiet();
    BOOST_TEST((log.closed == std::vector{error_code(ECONNRESET, boost::system::system_category())}));
  });
}

// What a posted call has for the handler comes between two pieces; what arrives while it is out is not lost.
BOOST_DATA_TEST_CASE(calls_and_sends_come_in_between, bdata::make(shapes) * seeds, s, seed) {
  each_flavour(s, seed, {}, [&](auto& f, journal& log) {
    const std::string one = framed_as(numbered(1024 * kib));
    f.begin(one);
    int called = 0;
    for (std::size_t at = 100 * kib; at < one.size(); at += 150 * kib) {
      f.w.sim.network().send(f.client, one.substr(at, 150 * kib));
      BOOST_TEST(!f.registry().post(f.id(), [&called](connection& c) {
        ++called;
        c.write("<posted>");
      }));
      BOOST_TEST(!f.registry().send(f.id(), "<sent>"));
      f.w.sim.run_until_quiet();
    }
    BOOST_TEST(called == 7);
    BOOST_TEST(log.messages == 1U);
    const std::string all = f.w.received(f.client);
    BOOST_TEST(all.size() == one.size() + 7 * bytes("<posted><sent>").size());
    BOOST_TEST((all.find(one) != std::string::npos));
  });
}

BOOST_DATA_TEST_CASE(reading_that_is_paused_within_it_goes_on, bdata::make(shapes) * seeds, s, seed) {
  each_flavour(s, seed, {}, [&](auto& f, journal& log) {
    const std::string one = framed_as(numbered(1024 * kib));
    f.begin(one);
    BOOST_TEST(!f.registry().post(f.id(), [](connection& c) { c.pause_reading(); }));
    f.w.sim.run_until_quiet();
    const std::uint64_t before = f.w.statistics().bytes_received;
    f.w.send(f.client, one.substr(100 * kib));
    BOOST_TEST(f.w.statistics().bytes_received - before <= 128 * kib);
    BOOST_TEST(log.messages == 0U);
    BOOST_TEST(!f.registry().post(f.id(), [](connection& c) { c.resume_reading(); }));
    BOOST_TEST((f.w.received(f.client) == one));
  });
}

BOOST_DATA_TEST_CASE(closing_and_draining_do_not_wait_for_it, bdata::make(shapes) * seeds * bdata::make({false, true}),
                     s, seed, drains) {
  each_flavour(s, seed, {}, [&](auto& f, journal& log) {
    const std::string one = framed_as(numbered(1024 * kib));
    f.begin(one);
    if (drains)
      f.registry().drain();
    else
      BOOST_TEST(!f.registry().close(f.id()));
    f.w.sim.run_until_quiet();
    f.w.send(f.client, one.substr(100 * kib));
    BOOST_TEST(f.w.ended(f.client));
    f.w.sim.network().close(f.client);
    f.w.sim.run_until_quiet();
    BOOST_TEST(log.messages == 0U);
    BOOST_TEST(log.closed.size() == 1U);
  });
}

BOOST_DATA_TEST_CASE(its_time_and_that_of_an_idle_connection_go_by, bdata::make(shapes) * seeds, s, seed) {
  for (const bool slow : {true, false}) {
    const connection_limits limits{.idle_timeout = slow ? 0s : 5s, .message_timeout = slow ? 5s : 0s};
    each_flavour(s, seed, limits, [&](auto& f, journal& log) {
      const std::string one = framed_as(numbered(1024 * kib));
      f.begin(one);
      for (std::size_t i = 1; i <= 6 && log.closed.empty(); ++i) {
        f.w.sim.advance(1s);
        f.w.send(f.client, one.substr(100 * i * kib, 100 * kib));
      }
      BOOST_TEST(f.in_place() >= 400 * kib);
      BOOST_TEST(log.closed.empty() != slow);  // it has got on all the time
      f.w.sim.advance(6s);
      BOOST_TEST((log.closed == std::vector{make_error_code(slow ? errc::message_timeout : errc::idle_timeout)}));
    });
  }
}

// The output of one waits while the next is received.
BOOST_DATA_TEST_CASE(a_peer_that_reads_slowly_gets_all, bdata::make(shapes) * seeds, s, seed) {
  each_flavour(s, seed, {.high_watermark = 300 * kib, .low_watermark = 100 * kib}, [&](auto& f, journal& log) {
    std::string stream, all;
    for (int i = 0; i < 10; ++i) stream += framed_as(numbered(256 * kib));
    f.w.sim.network().send(f.client, stream);
    all = f.w.received(f.client);
    BOOST_TEST((all == stream));
    BOOST_TEST(log.messages == 10U);
    BOOST_TEST(f.in_place() > 0U);
  });
}

BOOST_DATA_TEST_CASE(all_of_max_input_is_one_message, bdata::make(shapes) * seeds, s, seed) {
  each_flavour(s, seed, {.max_input = 500 * kib}, [&](auto& f, journal& log) {
    const std::string most = framed_as(numbered(500 * kib - 4));
    BOOST_TEST((f.w.converse(f.client, most) == most));
    BOOST_TEST(f.in_place() > 0U);
    f.w.send(f.client, framed_as(numbered(500 * kib - 3)).substr(0, 4));
    BOOST_TEST(f.w.ended(f.client));
    f.w.sim.network().close(f.client);
    f.w.sim.run_until_quiet();
    BOOST_TEST((log.closed == std::vector{make_error_code(errc::message_too_big)}));
  });
}

namespace big {

/// A handler that knows a length, and is shown more than that.
struct parses_by_itself {
  std::vector<std::size_t>* seen;
  std::size_t operator()(connection& c, bytes in) const {
    seen->push_back(in.size());
    if (in.size() < 200 * kib) {
      c.require_input(200 * kib);
      return 0;
    }
    c.write("done");
    return 200 * kib;
  }
};

awaitable<> exact_bytes(stream& s) {
  while (const auto body = co_await s.read_exactly(300 * kib)) s.write(*body);
}
struct reads_exactly {
  awaitable<> operator()(stream& s) const { return exact_bytes(s); }
};

}  // namespace big

BOOST_DATA_TEST_CASE(a_handler_may_say_it_by_itself, bdata::make(shapes) * seeds, s, seed) {
  std::vector<std::size_t> seen;
  fixture f(s, seed, parses_by_itself{&seen});
  BOOST_TEST(f.w.converse(f.client, numbered(400 * kib)) == "donedone");
  BOOST_TEST(f.in_place() > 0U);
  BOOST_TEST(seen.size() <= 6U);
}

BOOST_DATA_TEST_CASE(exact_reads_are_in_place, bdata::make(shapes) * seeds, s, seed) {
  fixture f(s, seed, reads_exactly());
  const std::string all = numbered(900 * kib);
  BOOST_TEST((f.w.converse(f.client, all) == all));
  BOOST_TEST(f.in_place() > 0U);
}
