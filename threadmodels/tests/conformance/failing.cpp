// SPDX-License-Identifier: BSL-1.0
// failing: a handler that throws ends only its own connection, and is counted.
#include "scenario.hpp"

namespace quintet::test {
namespace {

/// One connection fails as `request` asks for; a second connection stays alive.
void fail_one(scenario_run& run, std::string_view request) {
  service_host& host = run.serve();
  client bad = host.connect(), good = host.connect();
  good.send("echo before\n");
  run.note("good", good.receive_line());
  bad.send("echo delivered\n");
  run.note("bad", bad.receive_line());
  bad.send(request);
  run.note_rest("bad", bad);
  BOOST_TEST(host.seen().await_closed(1));
  if (!run.under().is_coroutine()) BOOST_TEST(host.seen().reasons().at(0) == make_error_code(errc::handler_threw));
  good.send("echo after\n");
  run.note("good", good.receive_line());
  run.finish();
  BOOST_TEST(host.statistics().handler_errors == 1u);
}

}  // namespace

QUINTET_SCENARIO(throws_on_data) { fail_one(run, "throw\n"); }
QUINTET_SCENARIO(throws_in_expensive_work) { fail_one(run, "throw-expensive\n"); }
QUINTET_SCENARIO(throws_after_expensive_work) { fail_one(run, "sum 1000\nthrow\n"); }
QUINTET_SCENARIO(throws_after_some_replies) { fail_one(run, "echo dropped with the batch\nthrow\n"); }

QUINTET_SCENARIO(throws_in_on_open) {
  service_host& host = run.serve({.service = {.greeting = true, .throw_in_open_of = 1}});
  client first = host.connect();
  run.note("first", first.receive_line());
  client second = host.connect();
  run.note_rest("second", second);
  BOOST_TEST(host.seen().await_closed(1));
  if (!run.under().is_coroutine()) BOOST_TEST(host.seen().reasons().at(0) == make_error_code(errc::handler_threw));
  client third = host.connect();
  run.note("third", third.receive_line());
  first.send("echo alive\n");
  run.note("first", first.receive_line());
  run.finish();
  BOOST_TEST(host.statistics().handler_errors == 1u);
}

QUINTET_SCENARIO(throws_when_the_peer_has_closed) {
  service_host& host = run.serve({.service = {.throw_at_close = true}});
  client c = host.connect();
  c.send("echo hello\n");
  run.note("client", c.receive_line());
  c.finish_sending();
  run.note_rest("client", c);
  BOOST_TEST(eventually([&] { return host.statistics().handler_errors == 1; }));
  client next = host.connect();
  next.send("echo next\n");
  run.note("next", next.receive_line());
  next.finish_sending();
  BOOST_TEST(eventually([&] { return host.statistics().handler_errors == 2; }));
}

QUINTET_SCENARIO(throws_when_the_peer_has_reset) {
  service_host& host = run.serve({.service = {.throw_at_close = true}});
  client c = host.connect();
  c.send("echo hello\n");
  run.note("client", c.receive_line());
  c.reset();
  BOOST_TEST(eventually([&] { return host.statistics().handler_errors == 1; }));
}

}  // namespace quintet::test
