// SPDX-License-Identifier: BSL-1.0
// large: data that exceeds a segment, a buffer, or the kernel's buffers.
#include "scenario.hpp"

#include <thread>
#include <vector>

namespace quintet::test {
namespace {

constexpr std::size_t mb = 1024 * 1024;

/// Returns text whose pieces all differ.
std::string numbered(std::size_t size) {
  static const std::string all = [] {
    std::string text;
    for (std::size_t i = 0; text.size() < 16 * mb; ++i) text.append(std::to_string(i)).append(",");
    return text;
  }();
  return all.substr(0, size);
}

/// Sends on a thread of its own, so that the test can read at the same time.
class sending {
 public:
  sending(client& c, std::string data) : thread_([&c, d = std::move(data)] { c.send(d); }) {}
  ~sending() { thread_.join(); }
  sending(const sending&) = delete;
  sending& operator=(const sending&) = delete;

 private:
  std::thread thread_;
};

}  // namespace

QUINTET_SCENARIO(message_of_16_mb) {
  client c = run.serve().connect();
  const std::string body = numbered(16 * mb);
  c.send("echo " + body + "\n");
  const std::string reply = c.receive(body.size() + 1);
  BOOST_TEST((reply == body + "\n"));
  run.note("reply", reply);
  c.send("echo small\n");
  run.note("then", c.receive_line());
}

QUINTET_SCENARIO(raw_16_mb_both_ways_at_once) {
  client c = run.serve().connect();
  const std::string body = numbered(mb);
  std::string requests;
  for (int i = 0; i < 16; ++i) requests += "raw " + std::to_string(body.size()) + "\n" + body;
  const sending s(c, requests);
  for (int i = 0; i < 16; ++i) BOOST_REQUIRE((c.receive(body.size()) == body));
  run.note("received", "all");
}

// 1,300 bytes ask for 100 MB. The server holds no more of it than the watermark and one reply.
QUINTET_SCENARIO(small_requests_for_large_replies) {
  client c = run.serve({.limits = {.max_output = 3 * mb}}).connect();
  std::string requests;
  for (int i = 0; i < 100; ++i) requests += "size 1000000\n";
  c.send(requests);
  for (int i = 0; i < 100; ++i) BOOST_REQUIRE(c.receive(1'000'001).back() == '\n');
  run.note("received", "all");
}

QUINTET_SCENARIO(reply_of_16_mb_to_a_slow_reader) {
  service_host& host = run.serve();
  client c = host.connect({.receive_buffer = 16 * 1024});
  c.send("size 16777216\necho end\n");
  // The test reads nothing until the server cannot send more: until its connection or its loop blocks.
  const bool blocks = run.under().kind == model::thread_per_connection;
  BOOST_REQUIRE(eventually([&] { return blocks ? host.statistics().batches >= 1 : host.statistics().sends >= 1; }));
  const std::string reply = c.receive(16 * mb + 1);
  run.note("reply", reply);
  run.note("end", c.receive_line());
  // With one send for each batch, the kernel would have taken everything at once, and the scenario would show nothing.
  if (!blocks) BOOST_TEST(host.statistics().sends >= 2u);
}

// The unread data fits into the kernel's buffers and one megabyte of the server.
QUINTET_SCENARIO(everything_is_written_before_anything_is_read) {
  client c = run.serve().connect();
  std::string requests;
  for (int i = 0; i < 300; ++i) requests += "size 10000\n";
  c.send(requests);
  c.finish_sending();
  const std::string replies = c.receive_rest();
  BOOST_TEST(replies.size() == 300u * 10'001);
  run.note("replies", replies);
}

QUINTET_SCENARIO(large_requests_pipelined_against_back_pressure) {
  client c = run.serve().connect({.receive_buffer = 32 * 1024});
  std::string requests, expected;
  for (int i = 0; i < 48; ++i) {
    const std::string body = std::to_string(i) + ":" + numbered(200'000);
    requests += "echo " + body + "\n";
    expected += body + "\n";
  }
  const sending s(c, requests);
  const std::string replies = c.receive(expected.size());
  BOOST_TEST((replies == expected));
  run.note("replies", replies);
}

QUINTET_SCENARIO(a_peer_that_does_not_read_delays_nobody) {
  service_host& host = run.serve();
  client lazy = host.connect({.receive_buffer = 16 * 1024});
  lazy.send("size 20000000\n");
  BOOST_REQUIRE(eventually([&] { return host.statistics().batches >= 1; }));
  std::vector<client> others;
  for (int i = 0; i < 4; ++i) others.push_back(host.connect());
  for (int i = 0; i < 50; ++i) {
    for (client& c : others) {
      c.send("echo " + std::to_string(i) + "\n");
      BOOST_REQUIRE(c.receive_line() == std::to_string(i));
    }
  }
  run.note("late reply", lazy.receive(20'000'001));
}

QUINTET_SCENARIO(message_above_max_input) {
  service_host& host = run.serve({.service = {.max_request = 200'000}, .limits = {.max_input = 200'000}});
  client greedy = host.connect(), modest = host.connect();
  modest.send("echo before\n");
  run.note("modest", modest.receive_line());
  greedy.send("echo " + std::string(2 * mb, 'x'));
  greedy.receive_rest();  // an orderly end or a reset: both may happen after input that the server does not read
  BOOST_TEST((greedy.ended() != ending::none));
  BOOST_TEST(host.seen().await_closed(1));
  if (!run.under().is_coroutine()) BOOST_TEST(host.seen().reasons().at(0) == make_error_code(errc::message_too_big));
  modest.send("echo after\n");
  run.note("modest", modest.receive_line());
}

// max_input limits unused input, not input that arrives at once. So a busy connection with short requests stays within
// it.
QUINTET_SCENARIO(many_short_requests_under_a_low_max_input) {
  client c = run.serve({.limits = {.max_input = 1000}}).connect();
  std::string requests = "delay 2000 first\n", expected = "first\n";
  for (int i = 0; i < 20'000; ++i) {
    requests += "echo " + std::to_string(i) + "\n";
    expected += std::to_string(i) + "\n";
  }
  const sending s(c, requests);
  const std::string replies = c.receive(expected.size());
  BOOST_TEST((replies == expected));
  run.note("replies", replies);
}

}  // namespace quintet::test
