// SPDX-License-Identifier: BSL-1.0
// own_descriptors_test: loops with their own descriptor tables hold more connections than the limit of one table.
// ctest: EACH_ENGINE RUN_SERIAL
#include <boost/test/unit_test.hpp>

#include "../../net/tests/support/sockets.hpp"
#include "client.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/base/build/sanitizers.hpp>
#include <quintet/net/loop/executor.hpp>
#include <quintet/threadmodels/server.hpp>

#include <sched.h>
#include <sys/resource.h>
#include <boost/asio/post.hpp>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace quintet::test {
namespace {

constexpr unsigned loops = 3;

/// Sets the descriptor limit of this process while the object lives.
class descriptor_limit {
 public:
  explicit descriptor_limit(rlim_t limit) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit now = before_;
    now.rlim_cur = limit;
    BOOST_REQUIRE(::setrlimit(RLIMIT_NOFILE, &now) == 0);
  }
  descriptor_limit(const descriptor_limit&) = delete;
  descriptor_limit& operator=(const descriptor_limit&) = delete;
  ~descriptor_limit() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

struct echo {
  void operator()(connection& c, bytes in) const { c.write(in); }
};

config with_tables() {
  return {.listen = {"127.0.0.1:0"},
          .threads = {.loops = loops},
          .placement = {.own_descriptors = true},
          .advanced = {.accept = accept_strategy::reuse_port}};
}

bool answers(client& c) {
  c.send("x");
  return c.receive(1) == "x";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tables, *boost::unit_test::enable_if<!thread_sanitizer>())

BOOST_AUTO_TEST_CASE(the_limit_holds_for_each_loop) {
  constexpr rlim_t limit = 200;
  constexpr int threads = 4, each = 100;  // 133 for each loop, if the connections are spread evenly
  const descriptor_limit limited(limit);
  running<server> srv(with_tables(), echo());
  gate all_are_there;
  std::atomic<int> served{0};
  std::vector<std::thread> users;
  for (int t = 0; t < threads; ++t)
    users.emplace_back([&] {
      if (::unshare(CLONE_FILES) != 0) return all_are_there.open();
      std::vector<client> clients;
      for (int i = 0; i < each; ++i) served += answers(clients.emplace_back(srv->port()));
      all_are_there.wait();
      for (client& c : clients) served += answers(c);
    });
  BOOST_TEST(all_are_there.await_waiting(threads));
  BOOST_TEST(served == threads * each);
  all_are_there.open();
  for (std::thread& t : users) t.join();
  BOOST_TEST(served == 2 * threads * each);  // all at the same time: more than the limit of the process
  static_assert(threads * each > limit);
}

BOOST_AUTO_TEST_CASE(other_threads_reach_the_loops_and_their_connections) {
  running<server> srv(with_tables(), echo());
  std::vector<client> clients;
  for (int i = 0; i < 30; ++i) BOOST_TEST(answers(clients.emplace_back(srv->port())));
  for (const connection_id id : srv->connections().all()) BOOST_TEST(!srv->connections().send(id, "news\n"));
  for (client& c : clients) BOOST_TEST(c.receive_line() == "news");
}

// A loop that waits in Asio is woken through a descriptor, too.
BOOST_AUTO_TEST_CASE(other_threads_reach_the_guest_of_a_loop) {
  std::atomic<event_loop*> seen{nullptr};
  struct teller {
    std::atomic<event_loop*>* to;
    void operator()(connection& c, bytes in) const {
      *to = &c.loop();
      c.write(in);
    }
  };
  running<server> srv(with_tables(), teller{&seen});
  client one(srv->port());
  BOOST_TEST(answers(one));
  std::atomic<int> ran{0};
  const auto there = seen.load()->get_executor();
  for (int i = 1; i <= 100; ++i) {
    boost::asio::post(there, [&] { ran += seen.load()->in_this_thread(); });
    BOOST_TEST(eventually([&] { return ran == i; }));
  }
}

BOOST_AUTO_TEST_CASE(who_drains_or_stops_listens_no_more_although_other_tables_have_the_socket) {
  config alone = with_tables();
  alone.listen = {"127.0.5.1:0"};  // an address that no other test uses
  running<server> srv(alone, echo());
  const address at = srv->addresses().front();
  client one = client::over(quintet::testing::connected_to(at).release());
  BOOST_TEST(answers(one));
  srv->drain(patience);
  BOOST_TEST(one.receive_rest().empty());
  srv.join();
  BOOST_TEST(!quintet::testing::can_connect(at));
  config again = with_tables();
  again.listen = {at.to_string()};
  running<server> next(again, echo());  // the same port, at once
  client two = client::over(quintet::testing::connected_to(at).release());
  BOOST_TEST(answers(two));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(where_connections_would_cross_tables_it_is_refused) {
  for (const model kind : all_models) {
    config c = with_tables();
    c.model = kind;
    if (kind != model::loop_per_thread) BOOST_CHECK_THROW(server(c, echo()), config_error);
  }
  for (const accept_strategy strategy : {accept_strategy::main_reactor, accept_strategy::exclusive}) {
    config c = with_tables();
    c.advanced.accept = strategy;
    BOOST_CHECK_THROW(server(c, echo()), config_error);
  }
  config c = with_tables();
  c.listen = {"unix:@quintet-own-descriptors"};
  BOOST_CHECK_THROW(server(c, echo()), config_error);
}

}  // namespace quintet::test
