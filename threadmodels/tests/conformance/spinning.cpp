// SPDX-License-Identifier: BSL-1.0
// spinning: loops that spin before they sleep behave like all others.
#include "scenario.hpp"

namespace quintet::test {
namespace {

const host_options spinning{.with_priority_port = true, .spin = std::chrono::microseconds(200)};

}  // namespace

QUINTET_SCENARIO(echo_between_two_clients_of_spinning_loops) {
  service_host& host = run.serve(spinning);
  client a = host.connect(), b = host.connect(), urgent(host.priority_port());
  for (int i = 0; i < 200; ++i) {
    const std::string n = std::to_string(i);
    for (client* c : {&a, &b, &urgent}) c->send("echo " + n + "\n");
    for (client* c : {&a, &b, &urgent}) BOOST_REQUIRE(c->receive_line() == n);
  }
  a.send("count\n");
  run.note("count", a.receive_line());
  const server_statistics s = host.statistics();
  BOOST_TEST(s.spins_paid + s.spins_failed > 0u);
}

QUINTET_SCENARIO(spinning_loops_stop_when_they_are_told_to) {
  service_host& host = run.serve(spinning);
  client c = host.connect();
  c.send("echo one\n");
  run.note("before", c.receive_line());
  host.stop();
  host.join();
  run.note_rest("client", c);
}

}  // namespace quintet::test
