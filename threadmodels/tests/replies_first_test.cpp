// SPDX-License-Identifier: BSL-1.0
// replies_first_test: with watermarks of 0 a batch begins only after the output of the one before has left user space.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/server.hpp>

#include <atomic>
#include <string>

namespace quintet::test {
namespace {

constexpr std::size_t reply_size = 400'000;  // below the default watermark, above what the kernel takes here

struct counts {
  std::atomic<int> batches{0};
  std::atomic<int> early{0};  ///< batches that began while output of an earlier one waited
};

/// Replies to each byte.
void reply(connection& c, bytes in, counts& seen) {
  if (!c.writable()) ++seen.early;
  for (std::size_t i = 0; i < in.size(); ++i) c.write(std::string(reply_size, 'r'));
  ++seen.batches;
}

struct replying {
  counts* seen;
  void operator()(connection& c, bytes in) const { reply(c, in, *seen); }
};

awaitable<> reply_to_all(stream& s, counts* seen) {
  while (const auto in = co_await s.read()) reply(s, *in, *seen);
}
struct replying_coroutine {
  counts* seen;
  awaitable<> operator()(stream& s) const { return reply_to_all(s, seen); }
};

config with_watermarks(model kind, std::size_t most) {
  return {.listen = {{"127.0.0.1:0", {.socket = {.send_buffer = 16 * 1024}}}},
          .model = kind,
          .threads = {.loops = 1, .workers = {2, 2}},
          .limits = {.high_watermark = most, .low_watermark = most}};
}

/// Sends the other requests while most of the first reply waits in the server.
template <class Handler>
void check(model kind, const Handler& handler, const counts& seen) {
  running<server> srv(with_watermarks(kind, 0), handler);
  client c(srv->port(), {.receive_buffer = 16 * 1024});
  constexpr int requests = 5;
  for (int i = 0; i < requests; ++i) {
    c.send("?");
    BOOST_TEST(c.receive(1) == "r");
  }
  BOOST_TEST(c.receive(requests * (reply_size - 1)).size() == requests * (reply_size - 1));
  BOOST_TEST(eventually([&] { return seen.batches >= 2; }));  // the last batch is counted after its reply
  BOOST_TEST(seen.early == 0);
}

}  // namespace

BOOST_DATA_TEST_CASE(no_batch_begins_before_the_last_reply_has_left, boost::unit_test::data::make(all_combinations),
                     under) {
  counts seen;
  if (under.is_coroutine())
    check(under.kind, replying_coroutine{&seen}, seen);
  else
    check(under.kind, replying{&seen}, seen);
}

// So that the test above could fail.
BOOST_AUTO_TEST_CASE(by_default_the_next_batch_does_not_wait) {
  counts seen;
  running<server> srv(with_watermarks(model::single_reactor, 2 * reply_size), replying{&seen});
  client c(srv->port(), {.receive_buffer = 16 * 1024});
  c.send("?");
  BOOST_TEST(c.receive(1) == "r");
  c.send("?");
  BOOST_TEST(eventually([&] { return seen.batches == 2; }));
}

}  // namespace quintet::test
