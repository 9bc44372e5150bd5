// SPDX-License-Identifier: BSL-1.0
// ending: how either side ends a connection, and what the handlers are told.
#include "scenario.hpp"

#include <thread>

namespace quintet::test {

QUINTET_SCENARIO(half_close_still_gets_all_replies) {
  service_host& host = run.serve();
  client c = host.connect();
  std::string requests;
  for (int i = 0; i < 20; ++i) requests += "delay 300 " + std::to_string(i) + "\n";
  c.send(requests);
  c.finish_sending();
  run.note_rest("client", c);
  check_reasons(run, host, {errc::end_of_stream});
}

QUINTET_SCENARIO(half_close_without_a_word) {
  service_host& host = run.serve({.service = {.greeting = true}});
  client c = host.connect();
  c.finish_sending();
  run.note_rest("client", c);
  check_reasons(run, host, {errc::end_of_stream});
}

QUINTET_SCENARIO(half_close_in_the_middle_of_a_request) {
  service_host& host = run.serve();
  client c = host.connect();
  c.send("echo whole\necho ha");
  c.finish_sending();
  run.note_rest("client", c);
  check_reasons(run, host, {errc::end_of_stream});
}

QUINTET_SCENARIO(disconnects_at_once) {
  service_host& host = run.serve();
  for (std::size_t i = 1; i <= 20; ++i) {
    host.connect().close();
    BOOST_REQUIRE(host.seen().await_closed(i));
  }
  check_reasons(run, host, std::vector<error_code>(20, errc::end_of_stream));
}

QUINTET_SCENARIO(reset_in_the_middle_of_a_request) {
  service_host& host = run.serve();
  client bad = host.connect(), good = host.connect();
  good.send("echo before\n");
  run.note("good", good.receive_line());
  bad.send("echo unfini");
  BOOST_REQUIRE(eventually([&] { return host.statistics().bytes_received == 12 + 11; }));
  bad.reset();
  check_reasons(run, host, {error_code(ECONNRESET, boost::system::system_category())});
  good.send("echo after\n");
  run.note("good", good.receive_line());
}

QUINTET_SCENARIO(reset_in_the_middle_of_a_large_reply) {
  service_host& host = run.serve();
  client bad = host.connect({.receive_buffer = 16 * 1024}), good = host.connect();
  bad.send("size 16777216\n");
  run.note("bad", bad.receive(100));
  bad.reset();
  BOOST_REQUIRE(host.seen().await_closed(1));
  if (!run.under().is_coroutine())
    BOOST_TEST((host.seen().reasons().at(0).category() == boost::system::system_category()));
  good.send("echo after\n");
  run.note("good", good.receive_line());
}

// The server learns of the reset while the connection's handler is still busy.
QUINTET_SCENARIO(reset_while_the_handler_is_busy) {
  service_host& host = run.serve();
  client bad = host.connect();
  bad.send("block\necho lost\n");
  BOOST_REQUIRE(host.block().await_waiting(1));
  bad.reset();
  host.block().open();
  BOOST_TEST(host.seen().await_closed(1));
  client good = host.connect();
  good.send("echo after\n");
  run.note("good", good.receive_line());
}

QUINTET_SCENARIO(quit_delivers_the_last_bytes) {
  service_host& host = run.serve();
  client c = host.connect();
  c.send("size 300000\nquit\n");
  c.send("echo too late\n" + std::string(150'000, 'x'));
  run.note_rest("client", c);
  c.close();
  check_reasons(run, host, {error_code()});
}

QUINTET_SCENARIO(quit_closes_for_a_silent_peer) {
  service_host& host = run.serve();
  client c = host.connect();
  c.send("quit\n");
  run.note("client", c.receive_line());
  run.note_rest("client", c);
  c.close();
  check_reasons(run, host, {error_code()});
}

QUINTET_SCENARIO(quit_after_the_peer_has_half_closed) {
  service_host& host = run.serve();
  client c = host.connect();
  c.send("delay 1000 x\nquit\n");
  c.finish_sending();
  run.note_rest("client", c);
  check_reasons(run, host, {error_code()});
}

QUINTET_SCENARIO(close_when_it_opens) {
  service_host& host = run.serve({.service = {.greeting = true, .close_after_greeting = true}});
  for (std::size_t i = 1; i <= 10; ++i) {
    client c = host.connect();
    run.note_rest("client", c);
    c.close();
    BOOST_REQUIRE(host.seen().await_closed(i));
  }
  check_reasons(run, host, std::vector<error_code>(10));
}

}  // namespace quintet::test
