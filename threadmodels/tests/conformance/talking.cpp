// SPDX-License-Identifier: BSL-1.0
// talking: requests and replies, however the byte stream is cut.
#include "scenario.hpp"

#include <numeric>

namespace quintet::test {

QUINTET_SCENARIO(greeting_on_open) {
  client c = run.serve({.service = {.greeting = true}}).connect();
  run.note("unasked", c.receive_line());
  c.send("echo and then\n");
  run.note("asked", c.receive_line());
}

QUINTET_SCENARIO(echo_one) {
  client c = run.serve().connect();
  c.send("echo one\n");
  BOOST_TEST(c.receive_line() == "one");
  c.finish_sending();
  run.note_rest("client", c);
}

QUINTET_SCENARIO(echo_many_one_at_a_time) {
  client c = run.serve().connect();
  for (int i = 0; i < 200; ++i) {
    c.send("echo " + std::to_string(i) + "\n");
    BOOST_REQUIRE(c.receive_line() == std::to_string(i));
  }
  c.send("count\n");
  run.note("count", c.receive_line());
}

QUINTET_SCENARIO(echo_many_pipelined) {
  client c = run.serve().connect();
  std::string requests, expected;
  for (int i = 0; i < 2000; ++i) {
    requests += "echo " + std::to_string(i) + "\n";
    expected += std::to_string(i) + "\n";
  }
  c.send(requests);
  c.finish_sending();
  const std::string replies = c.receive_rest();
  BOOST_TEST((replies == expected));
  run.note("replies", replies);
}

QUINTET_SCENARIO(several_requests_and_a_tail_in_one_segment) {
  client c = run.serve().connect();
  c.send("echo a\necho b\necho c");
  run.note("first", c.receive_line());
  run.note("second", c.receive_line());
  c.send("d\n");
  run.note("third", c.receive_line());
}

// The server receives the first part before the second is sent, so the handler sees both parts.
QUINTET_SCENARIO(bytes_split_at_every_boundary) {
  service_host& host = run.serve();
  const std::string message = "echo alpha\nraw 5\nb\nt\na" + std::string("echo gamma\n");
  const std::string expected = "alpha\nb\nt\nagamma\n";
  std::uint64_t sent = 0;
  client c = host.connect();
  for (std::size_t cut = 1; cut < message.size(); ++cut) {
    c.send(message.substr(0, cut));
    BOOST_REQUIRE(eventually([&] { return host.statistics().bytes_received == sent + cut; }));
    c.send(message.substr(cut));
    sent += message.size();
    BOOST_REQUIRE(c.receive(expected.size()) == expected);
  }
  c.send("count\n");
  run.note("requests", c.receive_line());
}

QUINTET_SCENARIO(one_byte_at_a_time) {
  service_host& host = run.serve();
  client c = host.connect();
  std::uint64_t sent = 0;
  for (const char byte : std::string("echo drop\nraw 3\n\n\n\necho by\necho drop\n")) {
    c.send({&byte, 1});
    ++sent;
    BOOST_REQUIRE(eventually([&] { return host.statistics().bytes_received == sent; }));
  }
  run.note("replies", c.receive(15));
}

QUINTET_SCENARIO(partial_consumption) {
  client c = run.serve().connect();
  const std::string body(100'000, 'x');
  c.send("raw 100000\n" + body.substr(0, 10));
  c.send(body.substr(10, 60'000));
  c.send(body.substr(60'010) + "echo after\nraw 2\n");
  BOOST_TEST((c.receive(100'000) == body));
  run.note("after", c.receive_line());
  c.send("ok");
  run.note("last", c.receive(2));
}

QUINTET_SCENARIO(every_byte_value) {
  client c = run.serve().connect();
  std::string all(256 * 64, '\0');
  std::iota(all.begin(), all.end(), '\0');
  c.send("raw " + std::to_string(all.size()) + "\n" + all);
  const std::string back = c.receive(all.size());
  BOOST_TEST((back == all));
  run.note("back", back);
}

QUINTET_SCENARIO(an_unknown_request_is_answered_too) {
  client c = run.serve().connect();
  c.send("\nnonsense\necho fine\n");
  for (int i = 0; i < 3; ++i) run.note("reply", c.receive_line());
}

QUINTET_SCENARIO(state_is_per_connection) {
  service_host& host = run.serve();
  client a = host.connect(), b = host.connect();
  for (int i = 0; i < 5; ++i) {
    a.send("count\n");
    run.note("a", a.receive_line());
    b.send("echo x\ncount\n");
    run.note("b", b.receive_line());
    run.note("b", b.receive_line());
  }
}

QUINTET_SCENARIO(two_servers_side_by_side) {
  service_host &one = run.serve(), &two = run.serve({.service = {.greeting = true}});
  client a = one.connect(), b = two.connect();
  a.send("echo to one\n");
  b.send("echo to two\n");
  run.note("one", a.receive_line());
  run.note("two", b.receive_line());
  run.note("two", b.receive_line());
  one.stop();
  one.join();
  run.note_rest("client of one", a);
  b.send("echo still there\n");
  run.note("two", b.receive_line());
}

}  // namespace quintet::test
