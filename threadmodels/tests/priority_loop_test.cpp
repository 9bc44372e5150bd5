// SPDX-License-Identifier: BSL-1.0
// priority_loop_test: heartbeats reach a full server, and one without free descriptors, in all five models.
// ctest: EACH_ENGINE
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "../../net/tests/support/sockets.hpp"
#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/net/server/thread_scheduling.hpp>
#include <quintet/threadmodels/server.hpp>

#include <mutex>
#include <string>
#include <vector>

#include <sched.h>
#include <sys/resource.h>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;
using quintet::testing::connect;
using quintet::testing::no_descriptors;
using quintet::testing::socket_for;

struct echo {
  void operator()(connection& c, bytes in) const { c.write(in); }
};

config with_priority_loop(model kind) {
  return {.listen = {"127.0.0.1:0", {"127.0.0.1:0", {.priority = true}}},
          .model = kind,
          .threads = {.loops = 2, .workers = {2, 2}}};
}

bool answers(client& c) { return c.send("x") && c.receive(1) == "x"; }

/// Returns whether the server accepts, answers and closes a connection of this socket. The socket was made before, and
/// stays open.
bool beats(const file_descriptor& with, const address& to) {
  char c = 0;
  return connect(with, to) && ::send(with.get(), "x", 1, MSG_NOSIGNAL) == 1 && ::recv(with.get(), &c, 1, 0) == 1 &&
         ::shutdown(with.get(), SHUT_WR) == 0 && ::recv(with.get(), &c, 1, 0) == 0;
}

BOOST_DATA_TEST_CASE(heartbeats_connect_to_a_full_server, data::make(all_models), kind) {
  config c = with_priority_loop(kind);
  c.accepting.max_connections = 1;
  running<server> srv(c, echo());
  client one(srv->port());
  BOOST_TEST(answers(one));
  const client waits(srv->port());
  for (int i = 0; i < 20; ++i) {
    client heart(srv->priority_port());
    BOOST_TEST(answers(heart));
  }
  BOOST_TEST(srv->statistics().priority.accepted == 20u);
  BOOST_TEST(srv->statistics().accepted == 21u);
}

BOOST_DATA_TEST_CASE(the_priority_loop_has_a_limit_of_its_own, data::make(all_models), kind) {
  config c = with_priority_loop(kind);
  c.advanced.priority.max_connections = 2;
  running<server> srv(c, echo());
  client first(srv->priority_port()), second(srv->priority_port()), third(srv->priority_port());
  BOOST_TEST(answers(first));
  BOOST_TEST(answers(second));
  client ordinary(srv->port());
  BOOST_TEST(answers(ordinary));
  BOOST_TEST(srv->statistics().priority.accepted == 2u);
  BOOST_TEST(srv->statistics().priority.open == 2u);
  BOOST_TEST(srv->statistics().refused == 0u);
  first.close();
  BOOST_TEST(answers(third));
}

// The ordinary port also tries to get each descriptor that becomes free, and may be faster. If it cannot serve such a
// connection, because it needs more, it leaves a descriptor that heartbeats can use without the reserve.
BOOST_DATA_TEST_CASE(heartbeats_connect_when_there_are_no_descriptors, data::make(all_models), kind) {
  constexpr std::uint64_t ordinary = 30;
  running<server> srv(with_priority_loop(kind), echo());
  client one(srv->port()), heart(srv->priority_port());
  BOOST_TEST(answers(one));
  BOOST_TEST(answers(heart));
  const address port = srv->addresses().at(0), priority_port = srv->addresses().at(1);
  std::vector<file_descriptor> waiting, hearts;
  for (std::uint64_t i = 0; i < ordinary; ++i) waiting.push_back(socket_for(port));
  for (int i = 0; i < 20; ++i) hearts.push_back(socket_for(priority_port));
  const no_descriptors none;
  for (const file_descriptor& w : waiting) BOOST_TEST(connect(w, port));
  BOOST_TEST(eventually([&] { return srv->statistics().accept_errors > 0; }));
  for (const file_descriptor& h : hearts) BOOST_TEST(beats(h, priority_port));
  const server_statistics now = srv->statistics();
  BOOST_TEST(now.priority.accepted == 21u);
  BOOST_TEST(now.priority.descriptors_given > 0u);
  BOOST_TEST(now.accepted - now.priority.accepted < 1 + ordinary);
  BOOST_TEST(answers(one));
  BOOST_TEST(answers(heart));
}

// Open connections keep the reserve's descriptors. When they close, the reserve is filled again.
BOOST_AUTO_TEST_CASE(the_reserve_is_for_so_many_at_once) {
  config c = with_priority_loop(model::single_reactor);
  c.advanced.priority.reserve_descriptors = 3;
  running<server> srv(c, echo());
  client one(srv->priority_port());
  BOOST_TEST(answers(one));
  const address at = srv->addresses().at(1);
  std::vector<file_descriptor> sockets, later;
  for (int i = 0; i < 4; ++i) sockets.push_back(socket_for(at));
  for (int i = 0; i < 3; ++i) later.push_back(socket_for(at));
  const no_descriptors none;
  for (const file_descriptor& s : sockets) BOOST_TEST(connect(s, at));
  BOOST_TEST(eventually([&] { return srv->statistics().priority.accepted == 4u; }));
  BOOST_TEST(srv->statistics().priority.descriptors_given == 3u);
  for (const file_descriptor& s : sockets) ::shutdown(s.get(), SHUT_WR);  // each makes room for the waiting one
  BOOST_TEST(eventually([&] { return srv->statistics().priority.open == 1u; }));
  for (const file_descriptor& l : later) BOOST_TEST(beats(l, at));
  BOOST_TEST(srv->statistics().priority.descriptors_given > 4u);
}

BOOST_AUTO_TEST_CASE(without_a_reserve_heartbeats_wait_as_others_do) {
  config c = with_priority_loop(model::single_reactor);
  c.advanced.priority.reserve_descriptors = 0;
  running<server> srv(c, echo());
  client one(srv->priority_port());
  BOOST_TEST(answers(one));
  const address at = srv->addresses().at(1);
  const file_descriptor waits = socket_for(at);
  {
    const no_descriptors none;
    BOOST_TEST(connect(waits, at));
    BOOST_TEST(eventually([&] { return srv->statistics().accept_errors > 0; }));
    BOOST_TEST(srv->statistics().priority.accepted == 1u);
  }
  BOOST_TEST(eventually([&] { return srv->statistics().priority.accepted == 2u; }));
}

BOOST_DATA_TEST_CASE(what_the_thread_has_got_is_said, data::make(all_models), kind) {
  std::mutex mutex;
  std::string told;
  config c = with_priority_loop(kind);
  BOOST_TEST((c.advanced.priority.scheduling == priority_scheduling::none));  // nobody who does not ask gets real time
  c.log = [&](const log_event& e) {
    const std::lock_guard lock(mutex);
    if (e.what.starts_with("the priority loop")) told = e.what;
  };
  for (const priority_scheduling wanted : enumerators<priority_scheduling>) {
    c.advanced.priority.scheduling = wanted;
    told.clear();
    running<server> srv(c, echo());
    client heart(srv->priority_port());
    BOOST_TEST(answers(heart));
    const thread_scheduling got = srv->statistics().priority.scheduling;
    const std::lock_guard lock(mutex);
    BOOST_TEST(told == (wanted == priority_scheduling::none ? "" : "the priority loop's thread is " + to_string(got)));
  }
}

/// Computes for 5 ms for each byte. Answers 'p' if its thread is preferred, or 'o'.
struct computing {
  void operator()(connection& c, bytes in) const {
    for (std::size_t i = 0; i < in.size(); ++i) {
      const duration end = cpu_time_of_this_thread() + std::chrono::milliseconds(5);
      while (cpu_time_of_this_thread() < end) {
      }
      const bool ordinary =
          (::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) == SCHED_OTHER && ::getpriority(PRIO_PROCESS, 0) >= 0;
      c.write(ordinary ? "o" : "p");
    }
  }
};

// A flood of the priority loop would otherwise take a CPU from all other threads on it.
BOOST_AUTO_TEST_CASE(a_thread_that_uses_too_much_is_not_preferred) {
  running<server> srv(with_priority_loop(model::single_reactor), computing());
  const auto scheduling = [&] { return srv->statistics().priority.scheduling; };
  std::vector<client> flood;
  for (int i = 0; i < 64; ++i) flood.emplace_back(srv->priority_port());
  const auto round = [&] {
    std::string answers;
    for (client& c : flood) (void)c.send("x");
    for (client& c : flood) answers += c.receive(1);
    return answers;
  };
  BOOST_TEST(round().size() == flood.size());
  if (!scheduling().preferred() && !scheduling().held_back) return;  // the system does not permit it
  BOOST_TEST(eventually([&] { return round().ends_with('o'); }));
  BOOST_TEST(eventually([&] { return !scheduling().held_back; }));  // after the end of the flood
  BOOST_TEST(scheduling().preferred());
}

BOOST_AUTO_TEST_CASE(what_cannot_be_is_refused) {
  config c = with_priority_loop(model::single_reactor);
  c.advanced.priority.reserve_descriptors = 4097;
  BOOST_CHECK_THROW(server(c, echo()), config_error);
  c.advanced.priority = {.reserve_memory = (std::size_t{1} << 30U) + 1};
  BOOST_CHECK_THROW(server(c, echo()), config_error);
}

}  // namespace
}  // namespace quintet::test
