// SPDX-License-Identifier: BSL-1.0
// held_input_test: what a server holds of a peer that sends ahead stays bounded, whatever the handler does meanwhile.
#include <quintet/base/framing/delimiter.hpp>
#include <quintet/net/framed.hpp>
#include <quintet/net/stream.hpp>

#include "world.hpp"

#include <boost/test/data/test_case.hpp>

#include <algorithm>
#include <chrono>
#include <coroutine>
#include <string>

using namespace quintet;
using namespace quintet::testing;
using namespace std::chrono_literals;
namespace bdata = boost::unit_test::data;

namespace {

constexpr std::size_t kib = 1024;
constexpr std::size_t one_arrival = engine::receive_size;
constexpr std::size_t waiting_limit = detail::connection_input::waiting_limit;

struct journal {
  std::size_t used = 0;     // bytes of requests that were answered
  std::size_t batches = 0;  // calls of a handler, or reads
  std::vector<error_code> closed;
};

struct outcome {
  std::size_t most_held = 0;  // bytes that the server had received from the network and not answered
  std::size_t received = 0;   // bytes of replies
};
enum class peer : std::uint8_t { reads, does_not_read };

/// Sends `requests` at once. The peer reads every reply at once, or none.
template <class World>
outcome pipeline(World& w, int client, const journal& log, bytes requests, peer what = peer::reads) {
  outcome seen;
  w.sim.network().send(client, requests);
  for (int idle = 0; idle < 100 && log.used < requests.size();) {
    const std::size_t before = log.used;
    w.sim.run_until_quiet();
    seen.most_held = std::max(seen.most_held, requests.size() - w.sim.network().unread(client) - log.used);
    if (what == peer::reads) seen.received += w.sim.network().receive(client).size();
    w.sim.advance(1ms, 1ms);
    idle = log.used == before ? idle + 1 : 0;
  }
  if (what == peer::reads) seen.received += w.received(client).size();
  return seen;
}

/// Waits on the loop's clock, not for its connection.
struct short_wait {
  event_loop& loop;
  static constexpr bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiting) const {
    (void)loop.after(1ms, [waiting] { waiting.resume(); });
  }
  static constexpr void await_resume() noexcept {}
};

enum class reads : std::uint8_t { some, lines, exactly };
struct waiting_coroutine {
  journal* log;
  reads way;
  awaitable<> operator()(stream& s) const {
    for (;;) {
      std::size_t size = 0;
      if (way == reads::some) {
        const auto in = co_await s.read();
        size = in ? in->size() : 0;
      } else if (way == reads::lines) {
        const auto line = co_await s.read_until("\n");
        size = line ? line->size() : 0;
      } else {
        const auto line = co_await s.read_exactly(2);
        size = line ? line->size() : 0;
      }
      if (size == 0) break;
      ++log->batches;
      co_await short_wait{s.loop()};
      s.write(std::string(size, 'r'));
      log->used += size;
    }
    log->closed.push_back(s.failure());
  }
};

connection_limits small_messages() {
  return {.max_input = 4 * kib, .high_watermark = 64 * kib, .low_watermark = 32 * kib};
}

}  // namespace

// A peer that pipelines small requests, reads all replies and never waits: the most usual client of a database.
BOOST_DATA_TEST_CASE(a_coroutine_that_waits_between_messages_is_not_flooded,
                     bdata::make(shapes) * bdata::make({0, 1, 2}), s, way) {
  journal log;
  world w(1, s, waiting_coroutine{&log, static_cast<reads>(way)}, small_messages());
  const int client = w.connect();
  std::string requests;
  while (requests.size() < (way == 0 ? 1000 * kib : 250 * kib)) requests += "x\n";
  const outcome seen = pipeline(w, client, log, requests);
  BOOST_TEST(seen.most_held <= waiting_limit + one_arrival);
  BOOST_TEST(log.used == requests.size());
  BOOST_TEST(log.closed.empty());
  BOOST_TEST(seen.received == requests.size());
}

namespace {

/// Answers each line by `size` bytes, and leaves the rest of the batch when it has to.
struct answers_lines {
  journal* log;
  std::size_t size;
  std::size_t operator()(connection& c, bytes in) const {
    ++log->batches;
    std::size_t used = 0;
    for (std::size_t end = 0; (end = in.find('\n', used)) != bytes::npos;) {
      BOOST_TEST(c.write(std::string(size, 'r')));
      log->used += end + 1 - used;
      used = end + 1;
      if (c.must_yield()) break;
    }
    return used;
  }
  void on_close(connection&, error_code why) const { log->closed.push_back(why); }
};

/// The same by framed().
struct answers_messages {
  journal* log;
  std::size_t size;
  void operator()(connection& c, bytes message) const {
    BOOST_TEST(c.write(std::string(size, 'r')));
    log->used += message.size() + 1;
  }
  void on_writable(connection&) { BOOST_ERROR("on_writable, which this handler has not asked for"); }
  void on_close(connection&, error_code why) const { log->closed.push_back(why); }
};

struct replies {
  shape s;
  std::size_t size;
  std::size_t count;
};
std::ostream& operator<<(std::ostream& out, const replies& r) {
  return out << r.s << ", " << r.count << " of " << r.size << " bytes";
}
std::vector<replies> all_replies() {
  std::vector<replies> all;
  for (const shape& s : shapes) {
    all.push_back({s, 1000, 60'000});
    all.push_back({s, 100 * kib, 1000});
    all.push_back({s, 1000 * kib, 100});
  }
  return all;
}
constexpr connection_limits watermarks{
    .max_input = 4 * kib, .max_output = 1200 * kib, .high_watermark = 100 * kib, .low_watermark = 50 * kib};

template <class Handler>
void check_pipelined_requests(const replies& r, journal& log, Handler handler) {
  world<Handler> w(1, r.s, std::move(handler), watermarks);
  w.sim.network().window = 256 * kib;
  const int client = w.connect();
  std::string requests;
  for (std::size_t i = 0; i < r.count; ++i) requests += "xyz\n";
  const outcome seen = pipeline(w, client, log, requests);
  BOOST_TEST(log.closed.empty());
  BOOST_TEST(log.used == requests.size());
  BOOST_TEST(seen.received == r.count * r.size);
  BOOST_TEST(seen.most_held <= 2 * (waiting_limit + one_arrival));
}

}  // namespace

// 400 bytes may ask for 100 MiB. Between two messages the handler stops, as between two batches.
BOOST_DATA_TEST_CASE(a_callback_stops_between_messages_whose_replies_wait, bdata::make(all_replies()), r) {
  journal log;
  check_pipelined_requests(r, log, answers_lines{&log, r.size});
}

BOOST_DATA_TEST_CASE(framed_stops_between_messages_whose_replies_wait, bdata::make(all_replies()), r) {
  journal log;
  check_pipelined_requests(r, log, framed(delimiter("\n"), answers_messages{&log, r.size}));
}

// A peer that reads nothing gets no further reply, and its input stays with it.
BOOST_DATA_TEST_CASE(a_peer_that_does_not_read_is_not_served_further, bdata::make(shapes), s) {
  journal log;
  world w(1, s, framed(delimiter("\n"), answers_messages{&log, 10 * kib}), watermarks);
  const int client = w.connect();
  std::string requests;
  for (int i = 0; i < 100'000; ++i) requests += "xyz\n";
  const outcome seen = pipeline(w, client, log, requests, peer::does_not_read);
  BOOST_TEST(log.used <= 4 * 20U);
  BOOST_TEST(seen.most_held <= 2 * (waiting_limit + one_arrival));
  BOOST_TEST(log.closed.empty());
}

namespace {

/// Pauses in the batch in which it also has to yield.
struct pauses_and_yields : answers_lines {
  std::size_t operator()(connection& c, bytes in) const {
    if (log->batches == 0) c.pause_reading();
    return answers_lines::operator()(c, in);
  }
};

}  // namespace

// The end of the stream comes behind the rest of the batch, whatever holds that.
BOOST_DATA_TEST_CASE(the_rest_of_a_batch_comes_before_the_end, bdata::make(shapes), s) {
  journal log;
  world w(1, s, pauses_and_yields{{&log, 100 * kib}}, watermarks);
  const int client = w.connect();
  w.sim.network().send(client, "1\n2\n3\n4\n5\n6\n");
  w.sim.network().shutdown_send(client);
  std::size_t received = w.received(client).size();
  BOOST_TEST(log.closed.empty());
  (void)w.server->connections().post(w.server->connections().all().at(0), [](connection& c) { c.resume_reading(); });
  received += w.received(client).size();
  BOOST_TEST(log.used == 12U);
  BOOST_TEST(received == 6 * 100 * kib);
  BOOST_TEST((log.closed == std::vector<error_code>{errc::end_of_stream}));
}

namespace {

/// Answers "!" ahead of others, by far more than was asked.
struct answers_urgently {
  journal* log;
  void operator()(connection& c, bytes) const {
    BOOST_TEST(c.write(std::string(10 * kib, 'o')));
    ++log->batches;
  }
  void on_close(connection&, error_code why) const { log->closed.push_back(why); }
  static bool is_urgent(bytes message) { return message == "!"; }
  static void on_urgent(urgent_reply& reply, bytes) { reply.write(std::string(20 * kib, 'u')); }
};

}  // namespace

// Urgent frames of one arrival: the first are answered up to the high watermark, the others are ordinary.
BOOST_DATA_TEST_CASE(urgent_messages_of_one_arrival_fill_no_more_than_the_watermark, bdata::make(shapes), s) {
  journal log;
  world w(1, s, framed(delimiter("\n"), answers_urgently{&log}), watermarks);
  w.sim.network().window = 64 * kib;
  const int client = w.connect();
  std::string requests;
  for (int i = 0; i < 3000; ++i) requests += "!\n";
  w.send(client, requests);
  BOOST_TEST(log.closed.empty());
  const std::uint64_t urgent = w.statistics().urgent;
  BOOST_TEST(urgent > 0U);
  const std::string all = w.received(client);
  BOOST_TEST(log.closed.empty());
  const std::size_t ordinary = log.batches;
  BOOST_TEST(w.statistics().urgent + ordinary == 3000U);
  BOOST_TEST(all.size() == w.statistics().urgent * 20 * kib + ordinary * 10 * kib);
}
