// SPDX-License-Identifier: BSL-1.0
// connection_limits_test: time limits and back-pressure with the kernel's sockets, in all five models.
// ctest: EACH_ENGINE
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "client.hpp"
#include "combination.hpp"
#include "observer.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/threadmodels/server.hpp>

#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;
using namespace std::chrono_literals;

/// Stores why connections have closed, in the order of closing.
class reasons {
 public:
  void add(error_code why) {
    const std::lock_guard lock(mutex_);
    all_.push_back(why);
  }
  std::vector<error_code> all() const {
    const std::lock_guard lock(mutex_);
    return all_;
  }
  bool await(std::size_t count) const {
    return eventually([&] { return all().size() >= count; });
  }

 private:
  mutable std::mutex mutex_;
  std::vector<error_code> all_;
};

/// Answers "size N" with N bytes, and any other line with itself.
struct lines {
  reasons* why;
  connection_limits from_first_line = {};  // so that no limit is reached before the test's thread has sent something
  std::size_t operator()(connection& c, bytes in) const {
    const std::size_t end = in.rfind('\n');
    if (end == bytes::npos) return 0;
    if (from_first_line.timed()) c.set_limits(from_first_line);
    if (in.starts_with("size "))
      c.write(std::string(std::stoul(std::string(in.substr(5))), 'x'));
    else
      c.write(in.substr(0, end + 1));
    return end + 1;
  }
  void on_close(connection&, error_code e) const { why->add(e); }
};

struct fixture {
  fixture(model kind, const connection_limits& l, const connection_limits& from_first_line = {})
      : srv(config{.model = kind, .threads = {.loops = 2, .workers = {2, 2}}, .limits = l},
            lines{&why, from_first_line}) {}
  client connect(int receive_buffer = 0) { return client(srv->port(), {.receive_buffer = receive_buffer}); }
  /// Checks that one connection has closed for this reason, and that the server serves others.
  void check(errc reason) {
    BOOST_TEST(why.await(1));
    BOOST_TEST(why.all().at(0) == error_code(reason));
    client good = connect();
    good.send("good\n");
    BOOST_TEST(good.receive_line() == "good");
  }
  reasons why;
  running<server> srv;
};

BOOST_DATA_TEST_CASE(a_silent_peer, data::make(all_models), kind) {
  fixture f(kind, {.first_byte_timeout = 30ms, .idle_timeout = 10s});
  client c = f.connect();
  BOOST_TEST(c.receive_rest().empty());
  f.check(errc::first_byte_timeout);
}

BOOST_DATA_TEST_CASE(an_idle_peer, data::make(all_models), kind) {
  fixture f(kind, {}, {.idle_timeout = 50ms});
  client c = f.connect();
  c.send("x\n");
  BOOST_TEST(c.receive_rest() == "x\n");
  f.check(errc::idle_timeout);
}

BOOST_DATA_TEST_CASE(a_slow_writer, data::make(all_models), kind) {
  fixture f(kind, {.message_timeout = 50ms, .min_receive_rate = 1'000'000});
  client c = f.connect();
  BOOST_TEST(
      eventually([&] { return !c.send("z"); }));  // sends a byte from time to time, until the connection is closed
  f.check(errc::message_timeout);
}

// In model 1 the thread blocks in send(), which must end for the deadline.
BOOST_DATA_TEST_CASE(a_peer_that_does_not_read, data::make(all_models), kind) {
  fixture f(kind, {.send_timeout = 50ms});
  client c = f.connect(16 * 1024);
  c.send("size 50000000\n");
  f.check(errc::send_timeout);
}

BOOST_DATA_TEST_CASE(a_peer_that_does_not_read_is_idle, data::make(all_models), kind) {
  fixture f(kind, {.idle_timeout = 50ms});
  client c = f.connect(16 * 1024);
  c.send("size 50000000\n");
  f.check(errc::idle_timeout);
}

// The peer reads slowly, for longer than the limit; in model 1 the thread blocks in send() meanwhile. The reply exceeds
// the kernel's buffers: bytes in these buffers are no progress.
BOOST_DATA_TEST_CASE(a_peer_that_reads_slowly_is_not_idle, data::make(all_models), kind) {
  fixture f(kind, {.idle_timeout = 1500ms});
  client c = f.connect(16 * 1024);
  c.send("size 50000000\n");
  for (int i = 0; i < 30; ++i) {
    std::this_thread::sleep_for(100ms);  // the peer's pace
    BOOST_TEST(c.receive(1'000'000).size() == 1'000'000U);
  }
  BOOST_TEST(f.why.all().empty());
}

// The server reads meanwhile, and finds the beginning of a message. In model 1 the thread blocks in send(), and that
// time does not count for the message. There, unread input does not exempt a slow reader from send_timeout.
BOOST_DATA_TEST_CASE(a_message_behind_a_reply_that_nobody_reads, data::make(all_models), kind) {
  const bool blocks = kind == model::thread_per_connection;
  fixture f(kind,
            {.high_watermark = 100'000'000, .send_timeout = blocks ? duration(300ms) : 1h, .message_timeout = 50ms});
  client c = f.connect(16 * 1024);
  c.send("size 50000000\nz");
  BOOST_TEST(c.receive(1) == "x");
  c.send("zz");
  f.check(blocks ? errc::send_timeout : errc::message_timeout);
}

BOOST_DATA_TEST_CASE(a_peer_that_reads_slowly_is_served, data::make(all_models), kind) {
  fixture f(kind, {}, {.idle_timeout = 20ms, .send_timeout = 1h});
  client c = f.connect(16 * 1024);
  c.send("size 5000000\n");
  BOOST_TEST(c.receive(5'000'000).size() == 5'000'000U);
  BOOST_TEST(f.why.await(1));  // then the idle timeout closes it
  BOOST_TEST(f.why.all().at(0) == error_code(errc::idle_timeout));
}

BOOST_DATA_TEST_CASE(more_than_the_cap, data::make(all_models), kind) {
  fixture f(kind, {.max_output = 1'000'000, .high_watermark = 500'000, .low_watermark = 100'000});
  client c = f.connect(16 * 1024);
  c.send("size 1000001\n");
  f.check(errc::output_overflow);
}

/// Has the last word when a limit ends the connection.
struct polite {
  reasons* why;
  connection_limits from_first_line;
  std::size_t operator()(connection& c, bytes in) const { return lines{why, from_first_line}(c, in); }
  void on_limit(connection& c, error_code e) const { c.write("bye: " + e.message() + "\n"); }
  void on_close(connection&, error_code e) const { why->add(e); }
};

BOOST_DATA_TEST_CASE(a_handler_has_the_last_word, data::make(all_models) * data::make({false, true}), kind,
                     within_message) {
  const connection_limits l{.idle_timeout = within_message ? 24h : 30ms, .message_timeout = 30ms};
  const errc limit = within_message ? errc::message_timeout : errc::idle_timeout;
  reasons why;
  running<server> srv(config{.model = kind, .threads = {.loops = 2, .workers = {2, 2}}}, polite{&why, l});
  client c(srv->port());
  c.send(within_message ? "x\ny" : "x\n");
  BOOST_TEST(c.receive_rest() == "x\nbye: " + error_code(limit).message() + "\n");
  c.close();
  BOOST_TEST(why.await(1));
  BOOST_TEST(why.all() == std::vector<error_code>{error_code(limit)}, boost::test_tools::per_element());
}

/// All other connections send their words to the "stuck" connections.
struct news {
  reasons* why;
  void operator()(connection& c, bytes in) const {
    const auto all = c.registry().all();
    c.registry().broadcast(all, std::make_shared<const std::string>(in));
  }
  void on_close(connection&, error_code e) const { why->add(e); }
};

// One stuck reader, under each policy that does not wait for it. The others get every word, in order.
BOOST_DATA_TEST_CASE(one_stuck_reader_harms_nobody, data::make(all_models) * data::make({false, true}), kind, closes) {
  reasons why;
  const connection_limits l{.high_watermark = 200'000,
                            .low_watermark = 100'000,
                            .overflow = closes ? overflow_policy::close : overflow_policy::drop};
  running<server> srv(config{.model = kind, .threads = {.loops = 2, .workers = {2, 2}}, .limits = l}, news{&why});
  client stuck(srv->port(), {.receive_buffer = 4096}), speaker(srv->port()), reader(srv->port());
  BOOST_TEST(eventually([&] { return srv->connections().size() == 3; }));
  const std::string word(100'000, 'w');
  for (int i = 0; i < 200; ++i) {
    speaker.send(word);
    BOOST_REQUIRE(speaker.receive(word.size()).size() == word.size());
    BOOST_REQUIRE(reader.receive(word.size()).size() == word.size());
  }
  if (closes)
    BOOST_TEST(why.await(1));
  else
    BOOST_TEST(eventually([&] { return srv->statistics().dropped > 0; }));
  stuck.close();
}

}  // namespace
}  // namespace quintet::test
