// SPDX-License-Identifier: BSL-1.0
// framed_test: callback handlers of messages: cuts, errors, ends, limits, and what is written as frames.
#include <quintet/base/framing/checked.hpp>
#include <quintet/net/framed.hpp>

#include "world.hpp"

#include <boost/test/data/test_case.hpp>

using namespace quintet;
using namespace quintet::testing;
using namespace std::chrono_literals;
namespace bdata = boost::unit_test::data;

namespace {

using wire_format = length_prefix<4>;
constexpr wire_format wire;

struct journal {
  std::vector<std::string> messages;
  std::string events;
  std::vector<error_code> closed;
};

/// Echoes. "bye" closes, "quiet" goes without an answer.
struct echo {
  journal* log;
  void on_open(connection&) const { log->events += 'o'; }
  void operator()(connection& c, bytes message) const {
    log->messages.emplace_back(message);
    if (message == "bye") return c.close();
    if (message != "quiet") BOOST_TEST(!write_message(c, wire, message));
  }
  void on_drain(connection& c) const { BOOST_TEST(!write_message(c, wire, "goodbye")); }
  void on_close(connection&, error_code why) const { log->closed.push_back(why); }
};
using echo_frames = framed<wire_format, echo>;

template <class Codec>
std::string framed_as(const Codec& codec, bytes message) {
  message_buffer m(message);
  BOOST_REQUIRE(!codec.wrap(m));
  return std::string(m.data());
}
std::string framed_as(bytes message) { return framed_as(wire_format(1U << 30U), message); }

struct fixture {
  explicit fixture(shape s, std::uint64_t seed = 1, const connection_limits& limits = {})
      : w(seed, s, echo_frames(wire, {&log}), limits), client(w.connect()) {}
  error_code only_reason() const { return log.closed.size() == 1 ? log.closed[0] : make_error_code(errc::no_pidfd); }
  journal log;
  world<echo_frames> w;
  int client;
};

struct bare {
  void operator()(connection&, bytes) const {}
};
struct full : bare {
  void on_open(connection&) {}
  void on_writable(connection&) {}
  void on_read_eof(connection&) {}
  void on_drain(connection&) {}
  void on_close(connection&, error_code) {}
};
// It wants to be told what its handler wants to be told, and no more: on_read_eof changes what an end of input means.
template <class H>
constexpr bool wants_all = detail::has_on_open<H> && detail::has_on_writable<H> && detail::has_on_read_eof<H> &&
                           detail::has_on_drain<H> && detail::has_on_close<H>;
template <class H>
constexpr bool wants_any =
    detail::has_on_open<H> || detail::has_on_writable<H> || detail::has_on_read_eof<H> || detail::has_on_drain<H>;
static_assert(message_handler<framed<delimiter, bare>> && !wants_any<framed<delimiter, bare>>);
static_assert(message_handler<framed<delimiter, full>> && wants_all<framed<delimiter, full>>);

}  // namespace

BOOST_DATA_TEST_CASE(messages_arrive_whole_and_in_order, bdata::make(shapes) * bdata::xrange(0, 10), s, seed) {
  fixture f(s, static_cast<std::uint64_t>(seed));
  std::string stream;
  std::vector<std::string> messages;
  for (int i = 0; i < 200; ++i) {
    messages.push_back(std::string(static_cast<std::size_t>(i * i % 997), static_cast<char>(i)));
    stream += framed_as(messages.back());
  }
  BOOST_TEST((f.w.converse(f.client, stream) == stream));
  BOOST_TEST((f.log.messages == messages));
  f.w.sim.network().shutdown_send(f.client);
  f.w.sim.run_until_quiet();
  BOOST_TEST(f.only_reason() == make_error_code(errc::end_of_stream));
  BOOST_TEST(f.log.events == "o");
}

BOOST_DATA_TEST_CASE(after_close_no_message_comes, bdata::make(shapes), s) {
  fixture f(s);
  const std::string first = framed_as("one");
  BOOST_TEST(f.w.converse(f.client, first + framed_as("bye") + framed_as("two")) == first);
  f.w.sim.network().close(f.client);
  f.w.sim.run_until_quiet();
  BOOST_TEST((f.log.messages == std::vector<std::string>{"one", "bye"}));
  BOOST_TEST(f.only_reason() == error_code());
}

// However the bytes are cut, what came before is answered.
BOOST_DATA_TEST_CASE(what_the_codec_refuses_ends_it_after_the_replies, bdata::make(shapes) * bdata::xrange(0, 5), s,
                     seed) {
  fixture f(s, static_cast<std::uint64_t>(seed));
  const std::string good = framed_as("one") + framed_as("two");
  BOOST_TEST(f.w.converse(f.client, good + "\x7f\xff\xff\xff" + std::string(100'000, 'x')) == good);
  BOOST_TEST(f.w.ended(f.client));
  f.w.sim.network().close(f.client);
  f.w.sim.run_until_quiet();
  BOOST_TEST(f.only_reason() == make_error_code(errc::message_too_big));
}

BOOST_DATA_TEST_CASE(a_peer_that_stays_has_a_second_to_go, bdata::make(shapes), s) {
  fixture f(s);
  f.w.send(f.client, "\xff\xff\xff\xff");
  f.w.sim.advance(5s, 1s);  // the peer does not close; it has a second for that
  BOOST_TEST(f.only_reason() == make_error_code(errc::message_too_big));
}

BOOST_DATA_TEST_CASE(an_end_within_a_message_is_told_from_a_clean_one, bdata::make(shapes) * bdata::xrange(0, 5), s,
                     seed) {
  const std::string whole = framed_as("message");
  for (std::size_t cut = 1; cut < whole.size(); ++cut) {
    fixture f(s, static_cast<std::uint64_t>(seed));
    f.w.sim.network().send(f.client, whole + whole.substr(0, cut));
    f.w.sim.network().shutdown_send(f.client);
    BOOST_TEST(f.w.received(f.client) == whole);
    BOOST_TEST(f.only_reason() == make_error_code(errc::incomplete_message));
  }
}

// Once for its beginning, at most twice when even its length is cut, and once when it is there.
BOOST_DATA_TEST_CASE(a_big_message_is_one_more_batch_not_one_for_each_piece, bdata::make(shapes) * bdata::xrange(0, 5),
                     s, seed) {
  fixture f(s, static_cast<std::uint64_t>(seed));
  const std::string big = framed_as(std::string(65'536, 'b'));
  BOOST_TEST((f.w.converse(f.client, big) == big));
  BOOST_TEST(f.w.statistics().receives > 3U);
  BOOST_TEST(f.w.statistics().batches <= 3U);
  f.w.converse(f.client, framed_as("small"));
  BOOST_TEST(f.log.messages.back() == "small");
}

BOOST_DATA_TEST_CASE(a_message_above_max_input_is_refused_at_its_beginning, bdata::make(shapes), s) {
  fixture f(s, 1, {.max_input = 1000});
  const std::string just = framed_as(std::string(996, 'x'));
  BOOST_TEST((f.w.converse(f.client, just) == just));
  f.w.send(f.client, framed_as(std::string(997, 'x')).substr(0, 4));
  BOOST_TEST(f.w.ended(f.client));
  f.w.sim.network().close(f.client);
  f.w.sim.run_until_quiet();
  BOOST_TEST(f.only_reason() == make_error_code(errc::message_too_big));
}

// Its time goes on while the connection gathers it without its handler.
BOOST_DATA_TEST_CASE(a_message_that_does_not_get_on_is_timed_out, bdata::make(shapes), s) {
  fixture f(s, 1, {.message_timeout = 5s});
  const std::string big = framed_as(std::string(10'000, 'b'));
  f.w.send(f.client, big.substr(0, 100));
  for (std::size_t i = 1; i <= 4; ++i) {
    f.w.sim.advance(1s);
    f.w.send(f.client, big.substr(100 * i, 100));
    BOOST_TEST(f.log.closed.empty());
  }
  f.w.sim.advance(1100ms);
  BOOST_TEST(f.only_reason() == make_error_code(errc::message_timeout));
}

// Its rest may be on its way, and is not waited for.
BOOST_DATA_TEST_CASE(draining_does_not_wait_for_half_a_message, bdata::make(shapes) * bdata::xrange(0, 5), s, seed) {
  fixture f(s, static_cast<std::uint64_t>(seed));
  const std::string big = framed_as(std::string(10'000, 'b'));
  f.w.send(f.client, framed_as("whole") + big.substr(0, 5000));
  f.w.server->connections().drain();
  BOOST_TEST(f.w.received(f.client) == framed_as("whole") + framed_as("goodbye"));
  BOOST_TEST(f.w.ended(f.client));
}
BOOST_DATA_TEST_CASE(draining_ends_when_what_the_kernel_had_is_no_whole_message, bdata::make(shapes), s) {
  fixture f(s);
  const std::string big = framed_as(std::string(10'000, 'b'));
  f.w.send(f.client, big.substr(0, 10));  // the connection waits for all of it, without its handler
  f.w.sim.network().send(f.client, big.substr(10, 5000));
  f.w.server->connections().drain();
  BOOST_TEST(f.w.received(f.client) == framed_as("goodbye"));
  BOOST_TEST(f.w.ended(f.client));
}

namespace {

/// Answers a number by so many frames of 1 KiB, or by one that is so long.
struct generous {
  std::vector<error_code>* results;
  std::size_t times = 1, size = 1024;
  void operator()(connection& c, bytes) const {
    for (std::size_t i = 0; i < times; ++i)
      results->push_back(write_message(c, length_prefix<4>(), std::string(size, 'g')));
  }
};

}  // namespace

// Headers and bodies are not refused one by one: what arrives is whole frames.
BOOST_DATA_TEST_CASE(a_message_is_taken_whole_or_not_at_all, bdata::make(shapes) * bdata::make({false, true}), s,
                     drops) {
  std::vector<error_code> results;
  world<framed<delimiter, generous>> w(1, s, framed(delimiter("\n"), generous{&results, 200}),
                                       {.high_watermark = 10'000,
                                        .low_watermark = 5'000,
                                        .overflow = drops ? overflow_policy::drop : overflow_policy::error});
  const std::string all = w.converse(w.connect(), "\n");
  const std::size_t taken = all.size() / 1028;
  BOOST_TEST(all.size() % 1028 == 0U);
  BOOST_TEST(taken >= 10U);
  BOOST_TEST(taken < 200U);
  for (std::size_t i = 0; i < taken; ++i)
    BOOST_REQUIRE((all.substr(i * 1028, 1028) == framed_as(std::string(1024, 'g'))));
  const auto refused = std::count(results.begin(), results.end(), make_error_code(errc::output_full));
  BOOST_TEST(refused == (drops ? 0 : 200 - static_cast<int>(taken)));
}

namespace {

struct late {
  std::vector<error_code>* results;
  void operator()(connection& c, bytes) const {
    c.shutdown_send();
    results->push_back(write_message(c, length_prefix<4>(), "too late"));
  }
};

}  // namespace

BOOST_DATA_TEST_CASE(a_message_after_shutdown_send_is_a_broken_pipe, bdata::make(shapes), s) {
  std::vector<error_code> results;
  world<framed<delimiter, late>> w(1, s, framed(delimiter("\n"), late{&results}));
  BOOST_TEST(w.converse(w.connect(), "\n").empty());
  BOOST_TEST_REQUIRE(results.size() == 1U);
  BOOST_TEST((results[0] == boost::system::errc::broken_pipe));
}

BOOST_DATA_TEST_CASE(a_message_above_max_output_says_what_ends_the_connection, bdata::make(shapes), s) {
  std::vector<error_code> results;
  world<framed<delimiter, generous>> w(1, s, framed(delimiter("\n"), generous{&results, 1, 10'001}),
                                       {.max_output = 10'000, .high_watermark = 5'000, .low_watermark = 5'000});
  BOOST_TEST(w.converse(w.connect(), "\n").empty());
  BOOST_TEST((results == std::vector{make_error_code(errc::output_overflow)}));
}

BOOST_DATA_TEST_CASE(what_the_codec_does_not_let_pass_is_not_written, bdata::make(shapes), s) {
  std::vector<error_code> results;
  world<framed<delimiter, generous>> w(1, s, framed(delimiter("\n"), generous{&results, 1, 65'537}));
  BOOST_TEST(w.converse(w.connect(), "\n").empty());
  BOOST_TEST((results == std::vector{make_error_code(errc::message_too_big)}));
}

namespace {

using in_chunks = chunked<checked<length_prefix<1>>>;
const in_chunks both_ways(checked{length_prefix<1>()}, {.send = true, .receive = true});

struct echo_in_chunks {
  std::vector<error_code>* closed;
  void operator()(connection& c, bytes message) const { BOOST_TEST(!write_message(c, both_ways, message)); }
  void on_close(connection&, error_code why) const { closed->push_back(why); }
};
std::string in_frames(bytes message) {
  std::string out;
  BOOST_REQUIRE(!both_ways.wrap_all(message, [&](const envelope& e) {
    for (const bytes& piece : e.pieces()) out += piece;
  }));
  return out;
}

}  // namespace

BOOST_DATA_TEST_CASE(messages_in_several_frames_both_ways, bdata::make(shapes) * bdata::xrange(0, 5), s, seed) {
  std::vector<error_code> closed;
  world<framed<in_chunks, echo_in_chunks>> w(static_cast<std::uint64_t>(seed), s,
                                             framed(both_ways, echo_in_chunks{&closed}));
  const int client = w.connect();
  const std::string stream = in_frames(std::string(100'000, 'b')) + in_frames("small") + in_frames("");
  BOOST_TEST((w.converse(client, stream) == stream));
  w.sim.network().send(client, in_frames(std::string(300, 'b')).substr(0, 256));  // one whole frame
  w.sim.network().shutdown_send(client);
  w.sim.run_until_quiet();
  BOOST_TEST((closed == std::vector{make_error_code(errc::incomplete_message)}));
}

BOOST_DATA_TEST_CASE(a_flipped_bit_ends_the_connection, bdata::make(shapes), s) {
  std::vector<error_code> closed;
  world<framed<in_chunks, echo_in_chunks>> w(1, s, framed(both_ways, echo_in_chunks{&closed}));
  const int client = w.connect();
  std::string stream = in_frames("a message");
  stream.back() = static_cast<char>(stream.back() ^ 1);
  w.send(client, stream);
  w.sim.network().close(client);
  w.sim.run_until_quiet();
  BOOST_TEST((closed == std::vector{make_error_code(errc::bad_checksum)}));
}
