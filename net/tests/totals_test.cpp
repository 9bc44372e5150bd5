// SPDX-License-Identifier: BSL-1.0
// totals_test: what all connections of a server may keep together, of input and of output, and who pays for it.
#include "world.hpp"

#include <boost/test/data/test_case.hpp>

#include <string>
#include <vector>

using namespace quintet;
using namespace quintet::testing;
namespace bdata = boost::unit_test::data;

namespace {

struct journal {
  std::vector<error_code> closed;
  [[nodiscard]] std::size_t of(errc why) const {
    return static_cast<std::size_t>(std::ranges::count(closed, error_code(why)));
  }
};

/// Lines. "big" is answered with many bytes; each other one with its length.
struct lines {
  journal* log;
  std::size_t last_words = 0;  // what on_close writes
  std::size_t operator()(connection& c, bytes in) const {
    const std::size_t end = in.rfind('\n');
    if (end == bytes::npos) return 0;
    c.write(in.starts_with("big") ? std::string(60'000, 'b') : std::to_string(end) + "\n");
    return end + 1;
  }
  void on_close(connection& c, error_code why) const {
    if (last_words > 0) c.write(std::string(last_words, 'l'));
    log->closed.push_back(why);
  }
};

constexpr std::size_t total = 300'000, plenty = 1U << 30U;

struct input_world : world<lines> {
  input_world(shape s, journal& log) : world(1, s, lines{&log}, {}, plenty, {}, {}, total) {}
};

}  // namespace

BOOST_DATA_TEST_CASE(unused_input_of_all_connections_is_bounded, bdata::make(shapes), s) {
  journal log;
  input_world w(s, log);
  std::vector<int> greedy;
  for (int i = 0; i < 10; ++i) {
    greedy.push_back(w.connect());
    w.send(greedy.back(), std::string(90'000, 'g'));
  }
  BOOST_TEST(log.of(errc::input_overflow) == 7U);  // three fit
  const int modest = w.connect();
  BOOST_TEST(w.converse(modest, std::string(60'000, 'm') + "\n") == "60000\n");
  for (const int c : greedy)
    if (!w.ended(c)) BOOST_TEST(w.converse(c, "\n") == "90000\n");
  for (int i = 0; i < 10; ++i)  // what is used is given back
    BOOST_TEST(w.converse(modest, std::string(250'000, 'm') + "\n") == "250000\n");
  BOOST_TEST(log.closed.size() == 7U);
}

// Whoever keeps little goes on, although others keep more than there is.
BOOST_DATA_TEST_CASE(a_peer_that_reads_does_not_pay_for_those_that_do_not, bdata::make(shapes), s) {
  journal log;
  world w(1, s, lines{&log}, {.high_watermark = 1000, .low_watermark = 500}, 200'000);
  w.sim.network().window = 1000;
  std::vector<int> deaf;
  for (int i = 0; i < 10; ++i) {
    deaf.push_back(w.connect());
    w.send(deaf.back(), "big\n");
  }
  BOOST_TEST(log.of(errc::output_overflow) == 7U);
  const int modest = w.connect();
  for (int i = 0; i < 10; ++i) {
    std::string requests;
    for (int k = 0; k < 600; ++k) requests += "a\n";
    w.send(modest, requests + "0123456789\n");  // what is answered has to wait
    BOOST_TEST(!w.received(modest).empty());
  }
  BOOST_TEST(!w.ended(modest));
}

BOOST_DATA_TEST_CASE(last_words_are_given_back, bdata::make(shapes), s) {
  journal log;
  world w(1, s, lines{&log, 50'000}, {.high_watermark = 1000, .low_watermark = 500}, 200'000);
  for (int i = 0; i < 20; ++i) {
    const int c = w.connect();
    w.sim.network().reset(c);
    w.sim.run_until_quiet();
  }
  const int last = w.connect();
  w.send(last, "big\n");
  BOOST_TEST(w.received(last).size() == 60'000U);
  BOOST_TEST(log.of(errc::output_overflow) == 0U);
}
