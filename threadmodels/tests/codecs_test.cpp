// SPDX-License-Identifier: BSL-1.0
// codecs_test: messages over real sockets, in all models and both flavours.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "shared_memory.hpp"
#include "waiting.hpp"

#include <quintet/base/framing/checked.hpp>
#include <quintet/net/framed.hpp>
#include <quintet/net/options/loop_options.hpp>
#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/server.hpp>

#include <atomic>
#include <cstddef>
#include <random>
#include <string>
#include <thread>

namespace quintet::test {

using wire_format = checked<varint_prefix>;
const wire_format wire(varint_prefix(1U << 20U));

/// Counts how the connections have ended, for both flavours.
struct ends {
  std::atomic<int> clean{0}, refused{0}, interrupted{0}, corrupt{0}, other{0};
  void note(error_code why) {
    ++(why == errc::end_of_stream        ? clean
       : why == errc::message_too_big    ? refused
       : why == errc::incomplete_message ? interrupted
       : why == errc::bad_checksum       ? corrupt
                                         : other);
  }
  [[nodiscard]] int all() const { return clean + refused + interrupted + corrupt + other; }
};

struct echo {
  ends* seen;
  void operator()(connection& c, bytes message) const {
    if (const error_code ec = write_message(c, wire, message)) c.close(ec);
  }
  void on_close(connection&, error_code why) const { seen->note(why); }
};

awaitable<> echo_messages(stream& s, ends* seen, wire_format reads) {
  for (;;) {
    const auto message = co_await s.read_message(reads);
    if (!message) {
      seen->note(message.error());
      co_return;
    }
    if (write_message(s, wire, *message)) co_return;
  }
}
struct echo_coroutine {
  ends* seen;
  wire_format reads = wire;
  awaitable<> operator()(stream& s) const { return echo_messages(s, seen, reads); }
};

namespace {

std::string framed_as(bytes message) {
  message_buffer m(message);
  BOOST_REQUIRE(!wire.wrap(m));
  return std::string(m.data());
}

std::string many_messages() {
  std::mt19937_64 random(7);
  std::string all;
  for (int i = 0; i < 2000; ++i) all += framed_as(std::string(random() % (i % 10 ? 50 : 5000), static_cast<char>(i)));
  return all + framed_as(std::string(1U << 20U, 'b')) + framed_as("last");
}

template <class Handler>
void check(model kind, const Handler& handler, const ends& seen) {
  running<server> srv(config{.model = kind, .threads = {.loops = 2, .workers = {2, 2}}}, handler);
  client good(srv->port()), greedy(srv->port()), interrupted(srv->port());
  const std::string stream = many_messages(), one = framed_as("one");
  std::thread sending([&] { good.send(stream); });
  const std::string back = good.receive(stream.size());
  sending.join();
  BOOST_TEST((back == stream));
  greedy.send(one + "\xff\xff\xff\xff\xff\xff\xff\x0f");
  BOOST_TEST((greedy.receive_rest() == one));
  interrupted.send(one + one.substr(0, one.size() - 1));
  interrupted.finish_sending();
  BOOST_TEST((interrupted.receive_rest() == one));
  good.finish_sending();
  BOOST_TEST(good.receive_rest().empty());
  greedy.close();
  BOOST_TEST(eventually([&] { return seen.all() == 3; }));
  BOOST_TEST(seen.clean == 1);
  BOOST_TEST(seen.refused == 1);
  BOOST_TEST(seen.interrupted == 1);
}

std::string numbered(std::size_t size) {
  std::string text;
  for (std::size_t i = 0; text.size() < size; ++i) text.append(std::to_string(i)).append(",");
  text.resize(size);
  return text;
}

/// The loop's own buffer gets the beginning of a message, and what arrives while the baton is on a pool.
template <class Handler>
void check_place(model kind, engine_kind io, const Handler& handler) {
  constexpr std::size_t rounds = 5, most_copied = 256 * 1024;
  running<server> srv(config{.model = kind, .threads = {.loops = 2, .workers = {2, 2}}, .engine = io}, handler);
  client c(srv->port());
  std::string small, big = framed_as(numbered(1U << 20U));
  for (std::size_t size = 0; size < 15'000; size = 2 * size + 1) small += framed_as(numbered(size));
  const auto echoed = [&c](const std::string& stream) {
    bool sent = false;
    std::thread sending([&] { sent = c.send(stream); });
    const std::string back = c.receive(stream.size());
    sending.join();
    return sent && back == stream;
  };
  BOOST_TEST(echoed(small));
  BOOST_TEST(srv->statistics().bytes_in_place == 0U);
  for (std::size_t i = 0; i < rounds; ++i) BOOST_TEST(echoed(big));
  const server_statistics n = srv->statistics();
  BOOST_TEST(n.bytes_received == small.size() + rounds * big.size());
  BOOST_TEST(n.bytes_in_place >= rounds * (big.size() - most_copied));
  BOOST_TEST(n.bytes_in_place <= rounds * big.size());
  BOOST_TEST(echoed(small));
  BOOST_TEST(srv->statistics().bytes_in_place == n.bytes_in_place);
}

/// The codec tolerates one wrong checksum. The other connection has a count of its own.
template <class Handler>
void check_checksums(model kind, bool over_memory, const Handler& handler, const ends& seen) {
  const std::string at = fresh_unix_address();
  running<server> srv(config{.listen = {{at, {.upgrade = connection_upgrade::shared_memory}}, "127.0.0.1:0"},
                             .model = kind,
                             .threads = {.loops = 2, .workers = {2, 2}}},
                      handler);
  const auto connected = [&] { return over_memory ? client_over_shared_memory(at) : client(srv->port()); };
  const std::string good = framed_as("good");
  std::string bad = framed_as("bad");
  bad.back() ^= 4;
  client first = connected(), second = connected();
  for (client* c : {&first, &second}) {
    c->send(good + bad + good);
    BOOST_TEST(c->receive(2 * good.size()) == good + good);
  }
  BOOST_TEST(eventually([&] { return srv->statistics().checksum_errors == 2; }));
  first.send(good + bad + good);
  BOOST_TEST(first.receive_rest() == good);
  BOOST_TEST(eventually([&] { return seen.corrupt == 1; }));
  BOOST_TEST(srv->statistics().checksum_errors == 3U);
  second.send(good);
  BOOST_TEST(second.receive(good.size()) == good);
}

}  // namespace

BOOST_DATA_TEST_CASE(messages_arrive_and_ends_are_told_apart, boost::unit_test::data::make(all_combinations), under) {
  ends seen;
  if (under.is_coroutine())
    check(under.kind, echo_coroutine{&seen}, seen);
  else
    check(under.kind, framed(wire, echo{&seen}), seen);
}

BOOST_DATA_TEST_CASE(wrong_checksums_are_counted_and_close_at_the_limit,
                     boost::unit_test::data::make(all_combinations) * boost::unit_test::data::make({false, true}),
                     under, over_memory) {
  ends seen;
  const wire_format tolerant(varint_prefix(1U << 20U), 2);
  if (under.is_coroutine())
    check_checksums(under.kind, over_memory, echo_coroutine{&seen, tolerant}, seen);
  else
    check_checksums(under.kind, over_memory, framed(tolerant, echo{&seen}), seen);
}

// These engines need not copy from the loop's buffer. io_uring must.
BOOST_DATA_TEST_CASE(big_messages_are_received_in_their_place, boost::unit_test::data::make(all_combinations), under) {
  for (const engine_kind io : {engine_kind::epoll, engine_kind::asio}) {
    BOOST_TEST_CONTEXT(to_string(io)) {
      ends seen;
      if (under.is_coroutine())
        check_place(under.kind, io, echo_coroutine{&seen});
      else
        check_place(under.kind, io, framed(wire, echo{&seen}));
    }
  }
}

}  // namespace quintet::test
