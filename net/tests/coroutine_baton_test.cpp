// SPDX-License-Identifier: BSL-1.0
// coroutine_baton_test: coroutines that await something else than input hold the baton: what others want of the
// connection meanwhile, and that they get it as soon as the coroutine reads again.
#include "world.hpp"

#include <quintet/net/stream.hpp>

#include <boost/test/data/test_case.hpp>

#include <array>
#include <coroutine>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

using namespace quintet;
using namespace quintet::testing;
using namespace std::chrono_literals;
namespace bdata = boost::unit_test::data;

namespace {

/// Something that coroutines wait for until the test lets one go on: a database, a timer, another server.
class elsewhere {
 public:
  class awaiter {
   public:
    awaiter(elsewhere& place, stream& s) noexcept : place_(place), stream_(s) {}
    static constexpr bool await_ready() noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting) const { place_.waiting_.push_back({&stream_.loop(), waiting}); }
    static constexpr void await_resume() noexcept {}

   private:
    elsewhere& place_;
    stream& stream_;
  };
  awaiter answer_for(stream& s) { return awaiter(*this, s); }
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  void answer_one() {
    const auto [loop, coroutine] = waiting_.front();
    waiting_.erase(waiting_.begin());
    loop->post([coroutine] { coroutine.resume(); });
  }

 private:
  struct entry {
    event_loop* loop;
    std::coroutine_handle<> coroutine;
  };
  std::vector<entry> waiting_;
};

struct diary {
  elsewhere place;
  int reads = 0, ends = 0, calls = 0;
  connection_id last;
};

/// Answers with a long reply, of which the second part comes from elsewhere.
struct in_two_parts {
  diary* log;
  awaitable<> operator()(stream& s) const {
    log->last = s.id();
    while (const auto in = co_await s.read()) {
      log->reads += !in->empty();
      s.write(std::string(70'000, 'a'));
      co_await log->place.answer_for(s);
      s.write("the rest");
    }
    ++log->ends;
  }
};

/// Its reply comes in three parts: the second one ends what flush() sends, and then it asks elsewhere once more.
struct in_three_parts {
  diary* log;
  awaitable<> operator()(stream& s) const {
    log->last = s.id();
    (void)co_await s.read();
    s.write(std::string(70'000, 'a'));
    co_await log->place.answer_for(s);
    s.write("rest");
    s.flush();
    co_await log->place.answer_for(s);
    (void)co_await s.read();
    ++log->ends;
  }
};

/// Asks elsewhere for each piece of input.
struct relay_of_questions {
  diary* log;
  std::size_t reply;
  awaitable<> operator()(stream& s) const {
    log->last = s.id();
    while (const auto in = co_await s.read()) {
      log->reads += !in->empty();
      co_await log->place.answer_for(s);
      s.write(std::string(reply, 'r'));
    }
    ++log->ends;
  }
};

template <class Handler>
struct fixture {
  fixture(shape s, std::size_t reply, std::uint64_t seed, const connection_limits& l = {})
      : w(seed, s, make(reply), l), client(w.connect()) {}
  ~fixture() {
    w.server->stop();
    w.sim.run_until_quiet();
    while (log.place.waiting() > 0) answer();
  }
  Handler make(std::size_t reply) {
    if constexpr (std::is_same_v<Handler, relay_of_questions>)
      return {&log, reply};
    else
      return {&log};
  }
  void answer() {
    log.place.answer_one();
    w.sim.run_until_quiet();
  }
  connection_registry& registry() { return w.server->connections(); }
  diary log;
  world<Handler> w;
  int client;
};

enum class by : std::uint8_t { post, send, broadcast };
std::ostream& operator<<(std::ostream& out, by b) {
  return out << (b == by::post ? "post" : b == by::send ? "send" : "broadcast");
}

/// 1,000 bytes, which a function captures or the peer is to get. A broadcast says only whether it was taken.
error_code offer(connection_registry& registry, diary& log, by way) {
  int& calls = log.calls;
  const std::array<char, 1000> captured{};
  switch (way) {
    case by::post:
      return registry.post(log.last, [&calls, captured](connection&) { calls += captured[0] == 0; });
    case by::send:
      return registry.send(log.last, std::string(1000, 'n'));
    case by::broadcast:
      break;
  }
  const bool taken = registry.broadcast({&log.last, 1}, std::make_shared<const std::string>(1000, 'n')) == 1;
  return taken ? error_code() : make_error_code(errc::output_full);
}

constexpr int seeds = 10;

}  // namespace

BOOST_DATA_TEST_CASE(draining_in_the_middle_of_a_reply_ends_the_coroutine_once,
                     bdata::make(shapes) * bdata::xrange(seeds), s, seed) {
  fixture<in_two_parts> f(s, 0, static_cast<std::uint64_t>(seed));
  f.w.send(f.client, "x");
  BOOST_TEST(f.log.place.waiting() == 1U);
  std::size_t received = f.w.received(f.client).size();
  f.w.server->drain(10s);
  f.w.sim.run_until_quiet();
  f.answer();
  received += f.w.received(f.client).size();
  BOOST_TEST(received == 70'008U);
  BOOST_TEST(f.log.ends == 1);
  BOOST_TEST(f.w.ended(f.client));
}

BOOST_DATA_TEST_CASE(closed_in_the_middle_of_a_reply_it_gets_no_more_input, bdata::make(shapes) * bdata::xrange(seeds),
                     s, seed) {
  fixture<in_two_parts> f(s, 0, static_cast<std::uint64_t>(seed));
  f.w.send(f.client, "x");
  BOOST_TEST(!f.registry().close(f.log.last));
  f.w.send(f.client, "y");
  f.answer();
  const std::size_t received = f.w.received(f.client).size();
  BOOST_TEST(received == 70'008U);
  BOOST_TEST(f.log.reads == 1);
  BOOST_TEST(f.w.ended(f.client));
}

// Input has always arrived when it reads: that must not keep everybody else waiting.
BOOST_DATA_TEST_CASE(a_full_pipeline_keeps_nobody_from_the_connection, bdata::make(shapes) * bdata::xrange(seeds), s,
                     seed) {
  fixture<relay_of_questions> f(s, 10, static_cast<std::uint64_t>(seed));
  f.w.send(f.client, "x");
  for (int i = 0; i < 5; ++i) {
    f.w.send(f.client, "x");
    f.answer();
    BOOST_TEST(f.log.place.waiting() == 1U);
  }
  BOOST_TEST(f.w.received(f.client).size() == 50U);  // each batch's output leaves when the next one begins
  int& calls = f.log.calls;
  BOOST_TEST(!f.registry().post(f.log.last, [&calls](connection&) { ++calls; }));
  f.w.send(f.client, "x");
  f.answer();
  BOOST_TEST(f.log.calls == 1);
  BOOST_TEST(!f.registry().close(f.log.last));
  f.w.send(f.client, "x");
  const int before = f.log.reads;
  f.answer();
  BOOST_TEST(f.log.reads == before);
  BOOST_TEST(f.w.received(f.client).size() == 20U);
  BOOST_TEST(f.w.ended(f.client));
}

// What has arrived and waits for the coroutine counts as what is still on its way.
BOOST_DATA_TEST_CASE(what_waits_for_a_busy_connection_is_bounded,
                     bdata::make(shapes) * bdata::make({by::post, by::send, by::broadcast}), s, way) {
  constexpr int most = 200'000 / 1000;
  fixture<in_two_parts> f(s, 0, 1, {.max_output = 200'000, .high_watermark = 100'000, .low_watermark = 50'000});
  f.w.send(f.client, "x");
  int taken = 0;
  for (int i = 0; i < 2 * most; ++i) {
    const error_code ec = offer(f.registry(), f.log, way);
    if (ec) BOOST_TEST(ec == make_error_code(errc::output_full));
    taken += !ec;
    f.w.sim.run_until_quiet();
  }
  BOOST_TEST(taken > most / 2);
  BOOST_TEST(taken <= most);
  std::size_t received = f.w.received(f.client).size();
  f.answer();
  received += f.w.received(f.client).size();
  BOOST_TEST(f.log.calls == (way == by::post ? taken : 0));
  BOOST_TEST(received == 70'008U + (way == by::post ? 0U : 1000U * static_cast<std::size_t>(taken)));
  BOOST_TEST(!offer(f.registry(), f.log, way));  // there is room again
  f.w.sim.run_until_quiet();
}

// What was sent while the reply was unfinished is not overtaken by what is sent after flush() has finished it.
BOOST_DATA_TEST_CASE(what_is_sent_in_the_middle_of_a_reply_keeps_its_order, bdata::make(shapes), s) {
  fixture<in_three_parts> f(s, 0, 1);
  f.w.sim.network().window = 1'000'000;
  f.w.sim.network().takes_all = true;
  f.w.send(f.client, "x");
  BOOST_TEST(!f.registry().send(f.log.last, "1"));
  f.w.sim.run_until_quiet();
  f.answer();
  BOOST_TEST(!f.registry().send(f.log.last, "2"));
  f.w.sim.run_until_quiet();
  BOOST_TEST(f.w.received(f.client).substr(70'000) == "rest");  // the coroutine waits elsewhere
  f.answer();
  BOOST_TEST(f.w.received(f.client) == "12");
}

namespace {

/// Flushes both parts of a reply that the peer does not take at once, and waits elsewhere.
struct flushes_behind_a_full_kernel {
  diary* log;
  awaitable<> operator()(stream& s) const {
    while (const auto in = co_await s.read()) {
      s.write(std::string(50'000, 'a'));
      s.flush();
      s.write("the tail");
      s.flush();
      co_await log->place.answer_for(s);
    }
  }
};

}  // namespace

BOOST_DATA_TEST_CASE(flushed_output_leaves_when_there_is_room_whatever_the_coroutine_waits_for,
                     bdata::make(shapes) * bdata::xrange(seeds), s, seed) {
  diary log;
  world w(static_cast<std::uint64_t>(seed), s, flushes_behind_a_full_kernel{&log});
  const int client = w.connect();
  w.send(client, "x");
  BOOST_TEST(log.place.waiting() == 1U);
  const std::string all = w.received(client);
  BOOST_TEST(all.size() == 50'008U);
  BOOST_TEST(all.ends_with("the tail"));
  BOOST_TEST(log.place.waiting() == 1U);
  log.place.answer_one();
}

// A peer that sends and never reads.
BOOST_DATA_TEST_CASE(what_a_coroutine_writes_is_bounded_by_the_watermark, bdata::make(shapes) * bdata::xrange(seeds), s,
                     seed) {
  constexpr std::size_t reply = 10'000, watermark = 200'000;
  fixture<relay_of_questions> f(s, reply, static_cast<std::uint64_t>(seed),
                                {.high_watermark = watermark, .low_watermark = watermark / 2});
  f.w.send(f.client, "x");
  for (int i = 0; i < 100; ++i) {
    f.w.send(f.client, "x");
    if (f.log.place.waiting() == 0) break;
    f.answer();
  }
  BOOST_TEST(f.log.place.waiting() == 0U);  // it waits for the peer
  const std::size_t written = static_cast<std::size_t>(f.log.reads) * reply;
  BOOST_TEST(written <= watermark + f.w.sim.network().window + 2 * reply);
  (void)f.w.received(f.client);  // and goes on as soon as the peer reads
  BOOST_TEST(f.log.place.waiting() == 1U);
}

BOOST_DATA_TEST_CASE(more_output_than_allowed_ends_it_at_the_next_read, bdata::make(shapes) * bdata::xrange(seeds), s,
                     seed) {
  fixture<relay_of_questions> f(
      s, 30'000, static_cast<std::uint64_t>(seed),
      {.max_output = 20'000, .high_watermark = 10'000, .low_watermark = 5'000, .overflow = overflow_policy::drop});
  f.w.send(f.client, "x");
  f.w.send(f.client, "x");
  f.answer();
  BOOST_TEST(f.log.reads == 1);
  BOOST_TEST(f.log.ends == 1);
  BOOST_TEST(f.w.ended(f.client));
}
