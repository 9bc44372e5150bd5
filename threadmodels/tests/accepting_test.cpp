// SPDX-License-Identifier: BSL-1.0
// accepting_test: accepting continues, whatever happens to a connection that is being accepted.
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
#include <stdexcept>
#include <string>
#include <vector>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;

/// Every other copy throws.
class fragile {
 public:
  explicit fragile(std::atomic<int>& countdown) : countdown_(&countdown) {}
  fragile(const fragile& other) : countdown_(other.countdown_) {
    if (countdown_->fetch_sub(1) % 2 == 0) throw std::runtime_error("no copy");
  }
  fragile(fragile&&) noexcept = default;
  fragile& operator=(const fragile&) = delete;
  fragile& operator=(fragile&&) = delete;
  ~fragile() = default;

 private:
  std::atomic<int>* countdown_;
};

struct fragile_callback : fragile {
  using fragile::fragile;
  void operator()(connection& c, bytes in) const { c.write(in); }
};
struct fragile_coroutine : fragile {
  using fragile::fragile;
  awaitable<> operator()(stream& s) const {
    while (const auto in = co_await s.read()) s.write(*in);
  }
};

/// The handler of every other connection cannot be made. That connection is closed, and the next one is served.
template <class Handler>
void check_fragile(model kind) {
  std::atomic<int> copies{1};
  running<server> srv(config{.model = kind}, Handler(copies));
  int served = 0, refused = 0;
  for (int i = 0; i < 20; ++i) {
    client c(srv->port());
    c.send("alive?");
    const std::string reply = c.receive(6);
    served += reply == "alive?";
    refused += reply.empty() && c.ended() != ending::none;
  }
  BOOST_TEST(served == 10);
  BOOST_TEST(refused == 10);
  srv.stop();
  srv.join();
  const server_statistics s = srv->statistics();
  BOOST_TEST(s.accepted == 20u);
  BOOST_TEST(s.closed == s.opened);
  BOOST_TEST(s.handler_errors == 10u);
  BOOST_TEST(s.accept_errors == 0u);
}

BOOST_DATA_TEST_CASE(handlers_that_cannot_be_made, data::make(all_combinations), under) {
  if (under.is_coroutine())
    check_fragile<fragile_coroutine>(under.kind);
  else
    check_fragile<fragile_callback>(under.kind);
}

// Opens as many connections as threads are allowed. Further ones are closed; one more fits after one has ended.
BOOST_AUTO_TEST_CASE(max_threads_bounds_the_connections_of_model_1) {
  const auto echo = [](connection& c, bytes in) { c.write(in); };
  running<server> srv(config{.model = model::thread_per_connection, .threads = {.max_threads = 3}}, echo);
  std::vector<client> clients;
  for (int i = 0; i < 3; ++i) {
    clients.emplace_back(srv->port());
    clients.back().send("x");
    BOOST_TEST(clients.back().receive(1) == "x");
  }
  client fourth(srv->port());
  BOOST_TEST(fourth.receive_rest().empty());
  BOOST_TEST(srv->statistics().refused == 1u);
  BOOST_TEST(srv->statistics().opened == 3u);
  clients.pop_back();
  BOOST_REQUIRE(eventually([&] { return srv->statistics().closed == 1; }));
  // A connection is counted as closed just before its thread is free again, so the first try may come too early.
  BOOST_TEST(eventually([&] {
    client again(srv->port());
    again.send("x");
    return again.receive(1) == "x";
  }));
  for (client& c : clients) {
    c.send("y");
    BOOST_TEST(c.receive(1) == "y");
  }
}

}  // namespace
}  // namespace quintet::test
