// SPDX-License-Identifier: BSL-1.0
// allocation_test: in steady state, no model allocates for a message, in either flavour. Skipped under sanitizers.
// ctest: EACH_ENGINE
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "../../net/tests/support/counted_new.hpp"
#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/base/framing/checked.hpp>
#include <quintet/net/framed.hpp>
#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/server.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;

constexpr std::size_t connections = 4;
constexpr unsigned loops = 2;
constexpr int rounds = 500;
constexpr std::string_view message = "sixty-four bytes of a message, as many as a small request has.\n";

/// Echoes whole messages, so that the rest of a cut message is kept for the next call.
struct echo_callback {
  std::size_t operator()(connection& c, bytes in) const {
    const std::size_t whole = in.size() - in.size() % message.size();
    c.write(in.substr(0, whole));
    return whole;
  }
};

/// Offloads, so that work crosses threads if there is a pool, and awaits a coroutine of its own.
awaitable<std::size_t> length(stream& s, bytes in) {
  co_return co_await s.offload([in] { return in.size(); });
}
awaitable<> echo_coroutine(stream& s) {
  while (const auto in = co_await s.read()) s.write(in->substr(0, co_await length(s, *in)));
}

/// Runs the clients, which share the process, so they must not allocate in a round. Returns false if a reply was wrong.
bool converse(std::vector<client>& clients, std::size_t pipelined, int times, bytes unit) {
  std::string requests;
  for (std::size_t i = 0; i < pipelined; ++i) requests += unit;
  std::string reply(requests.size(), '\0');
  bool right = true;
  for (int i = 0; i < times && right; ++i) {
    for (client& c : clients) right = right && c.send(requests);
    for (client& c : clients) right = right && c.receive_into(reply) && reply == requests;
  }
  return right;
}

/// A single round measures what converse() allocates once. `first_times`: further allocations that are allowed.
template <class Handler>
void check(model kind, const Handler& handler, std::size_t pipelined, bytes unit = message,
           offload_policy policy = offload_policy::always, std::size_t first_times = 0) {
  // Uses a fixed pool: the start of a thread in an elastic pool would be counted, but no message causes it.
  running<server> srv(
      config{.model = kind, .threads = {.loops = loops, .workers = {2, 2}, .offload = {.policy = policy}}}, handler);
  std::vector<client> clients;
  for (std::size_t i = 0; i < connections; ++i) clients.emplace_back(srv->port());
  bool right = converse(clients, pipelined, rounds, unit);
  std::size_t before = allocations;
  right = right && converse(clients, pipelined, 1, unit);
  const std::size_t overhead = allocations - before;
  before = allocations;
  right = right && converse(clients, pipelined, rounds, unit);
  const std::size_t measured = allocations - before;
  BOOST_TEST(right);
  BOOST_TEST(measured <= overhead + first_times, kind << ": " << measured - overhead << " allocations for "
                                                      << rounds * connections * pipelined << " messages");
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(can_count))
BOOST_AUTO_TEST_CASE(the_count_counts) {
  const std::size_t before = allocations;
  const auto made = std::make_unique<std::array<char, 100>>();
  BOOST_TEST(allocations == before + 1);
  BOOST_TEST((made != nullptr));
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(can_count))
BOOST_DATA_TEST_CASE(one_message_at_a_time, data::make(all_combinations), under) {
  if (under.is_coroutine())
    check(under.kind, &echo_coroutine, 1);
  else
    check(under.kind, echo_callback(), 1);
}

// A connection may seem expensive for the first time here, because its handler was preempted. Then it goes to the pool,
// and needs a buffer of its own; its loop needs a pool_submitter.
BOOST_TEST_DECORATOR(*boost::unit_test::precondition(can_count))
BOOST_DATA_TEST_CASE(where_the_loop_runs_what_is_cheap, data::make({model::reactor_pool, model::loop_per_thread_pool}),
                     kind) {
  check(kind, echo_callback(), 1, message, offload_policy::adaptive, 2 * connections + loops);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(can_count))
BOOST_DATA_TEST_CASE(sixteen_messages_at_a_time, data::make(all_combinations), under) {
  if (under.is_coroutine())
    check(under.kind, &echo_coroutine, 16);
  else
    check(under.kind, echo_callback(), 16);
}

std::atomic<bool> all_have_come{true};

/// Waits in a pool until the input of all connections is with the pool.
struct together : echo_callback {
  std::size_t operator()(connection& c, bytes in) const {
    all_have_come.wait(false);
    return echo_callback::operator()(c, in);
  }
};
awaitable<> plain_coroutine(stream& s) {
  while (const auto in = co_await s.read()) s.write(*in);
}

/// Returns how many allocations a round of echoes causes once the input of all connections was in use at once.
template <class Handler>
std::size_t allocated_by_many(model kind, const Handler& handler, bool pooled) {
  constexpr std::size_t many = 1000;
  running<server> srv(config{.model = kind, .threads = {.loops = 1, .workers = {2, 2}}}, handler);
  std::vector<client> clients;
  for (std::size_t i = 0; i < many; ++i) clients.emplace_back(srv->port());
  all_have_come = !pooled;
  bool right = true;
  for (client& c : clients) right = right && c.send(message);
  BOOST_TEST(eventually([&] { return srv->statistics().bytes_received == many * message.size(); }));
  all_have_come = true;
  all_have_come.notify_all();
  std::string reply(message.size(), '\0');
  for (client& c : clients) right = right && c.receive_into(reply);
  std::size_t least = many;
  for (int i = 0; i < 3; ++i) {  // a loop that was held up for seconds may have freed some
    const std::size_t before = allocations;
    right = right && converse(clients, 1, 1, message);
    least = std::min(least, allocations - before);
  }
  BOOST_TEST(right);
  return least;
}

constexpr std::size_t of_the_clients = 3;  // the strings in converse()

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(can_count))
BOOST_DATA_TEST_CASE(a_thousand_connections, data::make(all_combinations), under) {
  if (under.kind == model::thread_per_connection) return;  // a thread and a loop for each
  const bool pooled = under.kind == model::reactor_pool || under.kind == model::loop_per_thread_pool;
  BOOST_TEST((under.is_coroutine() ? allocated_by_many(under.kind, &plain_coroutine, false)
                                   : allocated_by_many(under.kind, together(), pooled)) <= of_the_clients);
}

/// Messages in the frames of a codec, or in lines.
struct framed_echo {
  void operator()(connection& c, bytes in) const { (void)write_message(c, wire(), in); }
  static checked<length_prefix<2>> wire() { return checked<length_prefix<2>>(length_prefix<2>()); }
};
awaitable<> echo_frames(stream& s) {
  auto wire = framed_echo::wire();
  while (const auto in = co_await s.read_message(wire)) (void)write_message(s, wire, *in);
}
awaitable<> echo_lines(stream& s) {
  while (const auto in = co_await s.read_until("\n")) s.write(*in);
}
struct line_echo {
  void operator()(connection& c, bytes in) const { (void)write_message(c, delimiter("\n"), in); }
};

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(can_count))
BOOST_DATA_TEST_CASE(messages_of_a_codec, data::make(all_combinations), under) {
  message_buffer unit(message);
  BOOST_REQUIRE(!framed_echo::wire().wrap(unit));
  if (under.is_coroutine())
    check(under.kind, &echo_frames, 16, unit.data());
  else
    check(under.kind, framed(framed_echo::wire(), framed_echo()), 16, unit.data());
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(can_count))
BOOST_DATA_TEST_CASE(lines, data::make(all_combinations), under) {
  if (under.is_coroutine())
    check(under.kind, &echo_lines, 16);
  else
    check(under.kind, framed(delimiter("\n"), line_echo()), 16);
}

constexpr std::size_t long_reply = 16 << 20;  // far more than the kernel takes

/// Answers a byte with far more than a socket takes at once.
struct long_answer {
  std::size_t operator()(connection& c, bytes in) const {
    static const std::string piece(1 << 10, 'a');
    for (std::size_t left = in.size() * long_reply; left > 0; left -= piece.size()) c.write(piece);
    return in.size();
  }
};

/// Returns how many allocations waiting replies cause.
std::size_t allocated_by_waiting(model kind, std::size_t static_output) {
  const config c{.model = kind,
                 .threads = {.loops = 1},
                 .limits = {.high_watermark = 2 * long_reply},
                 .advanced = {.loop = {.static_output = static_output}}};
  running<server> srv(c, long_answer());
  client peer(srv->port());
  std::string reply(long_reply, '\0');
  std::size_t before = 0;
  for (int i = 0; i < 3; ++i) {
    if (i == 1) before = allocations;  // now all buffers that are kept have been allocated
    const bool right = peer.send("x") && peer.receive_into(reply);
    BOOST_REQUIRE(right);
  }
  return allocations - before;
}

// A connection allocates at most this often when its output waits for the first time. Output buffers from the heap
// would take a thousand allocations.
constexpr std::size_t once = 4;
// In models with a pool, handlers write on threads without a loop.
constexpr model written_on_the_loop[] = {model::thread_per_connection, model::single_reactor, model::loop_per_thread};

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(can_count))
BOOST_DATA_TEST_CASE(what_waits_in_static_output_is_not_allocated, data::make(written_on_the_loop), kind) {
  BOOST_TEST(allocated_by_waiting(kind, 2 * long_reply) <= once);
}

/// Accepts messages of up to 60 MiB, and does not answer.
struct takes_much {
  static constexpr std::uint32_t longest = 60U << 20U;
  static length_prefix<4> wire() { return length_prefix<4>(longest); }
  void operator()(connection&, bytes) const {}
};
awaitable<> take_much(stream& s) {
  auto wire = takes_much::wire();
  while (co_await s.read_message(wire)) {
  }
}

/// Returns how much heap `count` connections use after a header and `sent` bytes of its message.
template <class Handler>
std::size_t cost_of_beginnings(model kind, const Handler& handler, std::size_t count, std::size_t sent) {
  running<server> srv(config{.model = kind, .threads = {.loops = 2, .workers = {2, 2}}}, handler);
  std::vector<client> peers;
  for (std::size_t i = 0; i < count; ++i) peers.emplace_back(srv->port());
  BOOST_TEST(eventually([&] { return srv->statistics().opened == count; }));
  const std::size_t before = heap_bytes;
  const auto header = encode_number<4, std::endian::big>(takes_much::longest);
  const std::string begun = std::string(header.data(), header.size()) + std::string(sent, 'x');
  for (client& c : peers) BOOST_TEST(c.send(begun));
  BOOST_TEST(eventually([&] { return srv->statistics().bytes_received == count * begun.size(); }));
  return std::max<std::size_t>(before, heap_bytes) - before;
}

// A buffer grows by 1 MiB, or to four times what has arrived.
BOOST_TEST_DECORATOR(*boost::unit_test::precondition(can_count))
BOOST_DATA_TEST_CASE(a_message_that_is_only_announced_takes_little, data::make(all_combinations), under) {
  constexpr std::size_t count = 20, kib = 1024;
  const auto cost = [&](std::size_t sent) {
    return under.is_coroutine() ? cost_of_beginnings(under.kind, &take_much, count, sent)
                                : cost_of_beginnings(under.kind, framed(takes_much::wire(), takes_much()), count, sent);
  };
  BOOST_TEST(cost(100) <= count * 1100 * kib);
  BOOST_TEST(cost(1500 * kib) <= count * 4500 * kib);
}

}  // namespace
}  // namespace quintet::test
