// SPDX-License-Identifier: BSL-1.0
// order: replies keep the order of requests and callbacks do not overlap, whatever the handlers' delays are.
#include "scenario.hpp"

#include <random>
#include <vector>

namespace quintet::test {
namespace {

/// Requests of random duration. Each run has the same sequence.
struct script {
  std::string requests, expected;
};
script delayed(unsigned seed, int count) {
  std::mt19937 random(seed);
  script s;
  for (int i = 0; i < count; ++i) {
    const std::string tag = std::to_string(seed) + "." + std::to_string(i);
    switch (random() % 4) {
      case 0:
        s.requests += "echo " + tag + "\n";
        break;
      case 1:
        s.requests += "raw " + std::to_string(tag.size() + 1) + "\n" + tag + "\n";
        break;
      default:
        s.requests += "delay " + std::to_string(random() % 400) + " " + tag + "\n";
    }
    s.expected += tag + "\n";
  }
  return s;
}

}  // namespace

QUINTET_SCENARIO(order_under_random_delays) {
  service_host& host = run.serve();
  std::vector<script> scripts;
  std::vector<client> clients;
  for (unsigned seed = 1; seed <= 6; ++seed) {
    scripts.push_back(delayed(seed, 60));
    clients.push_back(host.connect());
  }
  // Sends in pieces, so that input arrives while handlers are busy.
  for (std::size_t piece = 0; piece < 20; ++piece) {
    for (std::size_t i = 0; i < clients.size(); ++i) {
      const std::string& all = scripts[i].requests;
      const std::size_t from = all.size() * piece / 20, to = all.size() * (piece + 1) / 20;
      clients[i].send(std::string_view(all).substr(from, to - from));
    }
  }
  for (std::size_t i = 0; i < clients.size(); ++i) {
    clients[i].finish_sending();
    const std::string replies = clients[i].receive_rest();
    BOOST_TEST(replies == scripts[i].expected);
    run.note("replies", replies);
  }
}

QUINTET_SCENARIO(expensive_and_cheap_requests_keep_their_order) {
  client c = run.serve().connect();
  c.send("echo a\nsum 10\necho b\ndelay 2000 c\necho d\nsum 4\nsum 100000\necho e\n");
  for (int i = 0; i < 8; ++i) run.note("reply", c.receive_line());
}

QUINTET_SCENARIO(an_exception_of_expensive_work_can_be_caught) {
  client c = run.serve().connect();
  c.send("echo before\ncatch-expensive it\necho after\ncatch-expensive again\nsum 3\n");
  for (int i = 0; i < 5; ++i) run.note("reply", c.receive_line());
}

// The service looks for overlaps in every scenario; this scenario provokes them.
QUINTET_SCENARIO(callbacks_never_overlap) {
  run.leave_out_counts();  // a connection that is reset before it is accepted may never be opened
  service_host& host = run.serve();
  std::vector<client> clients;
  for (unsigned seed = 1; seed <= 24; ++seed) {
    clients.push_back(host.connect());
    clients.back().send(delayed(seed, 12).requests);
  }
  for (std::size_t i = 0; i < clients.size(); ++i) {
    if (i % 3 == 0) clients[i].reset();
    if (i % 3 == 1) clients[i].close();
    if (i % 3 != 2) continue;
    clients[i].finish_sending();
    run.note("replies", clients[i].receive_rest());
  }
  BOOST_TEST(eventually([&] {
    const server_statistics s = host.statistics();
    return s.accepted >= 16 && s.closed == s.accepted;
  }));
  run.finish();
  for (const visit& v : host.seen().visits()) BOOST_TEST(v.requests <= 12u);
}

}  // namespace quintet::test
