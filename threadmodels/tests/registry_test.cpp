// SPDX-License-Identifier: BSL-1.0
// registry_test: many threads send to, post to and close connections that open and close meanwhile.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/server.hpp>

#include <algorithm>
#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;

/// The count is not synchronised: only the holder of the baton may use it.
struct counting {
  std::size_t calls = 0;
  void operator()(connection& c, bytes in) {
    ++calls;
    c.write(in);
  }
};

struct counting_coroutine {
  awaitable<> operator()(stream& s) const {
    while (const auto in = co_await s.read()) s.write(*in);
  }
};

/// Sends, posts, broadcasts and closes, with ids of open and closed connections.
void meddle(connection_registry& ids, unsigned seed, std::atomic<bool>& stop, std::atomic<std::size_t>& called) {
  std::mt19937 random(seed);
  std::vector<connection_id> known;
  const auto word = std::make_shared<const std::string>("w");
  while (!stop) {
    if (known.size() < 10 || random() % 8 == 0) {
      const auto now = ids.all();
      known.insert(known.end(), now.begin(), now.end());
      if (known.size() > 200) known.erase(known.begin(), known.begin() + 100);
    }
    if (known.empty()) continue;
    const connection_id id = known[random() % known.size()];
    switch (random() % 16) {
      case 0:
        (void)ids.close(id);
        break;
      case 1:
        ids.broadcast(known, word);
        break;
      case 2:
      case 3:
        (void)ids.post(id, [&called](connection& c) {
          c.write("p");
          ++called;
        });
        break;
      default:
        (void)ids.send(id, "s");
    }
  }
}

template <class Handler>
void run_crowd(model kind) {
  // A low limit on queued output: threads that only send must not overload a loop.
  const connection_limits l{.max_output = 100'000, .high_watermark = 50'000, .low_watermark = 20'000};
  running<server> srv(config{.model = kind, .threads = {.loops = 2, .workers = {2, 3}}, .limits = l}, Handler{});
  std::atomic<bool> stop = false;
  std::atomic<std::size_t> called = 0;
  std::vector<std::thread> meddlers;
  for (unsigned i = 0; i < 3; ++i) meddlers.emplace_back([&, i] { meddle(srv->connections(), i, stop, called); });
  for (int round = 0; round < 40 || (called <= 10 && round < 4000); ++round) {
    std::vector<client> clients;
    for (int i = 0; i < 8; ++i) {
      clients.emplace_back(srv->port());
      clients.back().send("hello");
    }
    for (std::size_t i = 0; i < clients.size(); ++i) {
      (void)clients[i].receive(5);
      if (i % 3 == 0) clients[i].reset();
    }
  }
  BOOST_TEST(called > 10U);
  stop = true;
  for (auto& m : meddlers) m.join();
  BOOST_TEST(eventually([&] { return srv->connections().size() == 0; }));
  client last(srv->port());
  last.send("x");
  BOOST_TEST(last.receive(1) == "x");
}

BOOST_DATA_TEST_CASE(meddling_with_callbacks, data::make(all_models), kind) { run_crowd<counting>(kind); }
BOOST_DATA_TEST_CASE(meddling_with_coroutines, data::make(all_models), kind) { run_crowd<counting_coroutine>(kind); }

// Between two reads of a loop's inbox, only the first post of a burst may wake the loop.
BOOST_DATA_TEST_CASE(everything_sent_arrives_in_order, data::make(all_models), kind) {
  running<server> srv(config{.model = kind, .threads = {.loops = 2}}, counting{});
  client c(srv->port());
  BOOST_TEST(eventually([&] { return srv->connections().size() == 1; }));
  const connection_id id = srv->connections().all().at(0);
  std::string expected;
  for (int i = 0; i < 20'000; ++i) {
    const std::string word = std::to_string(i) + " ";
    BOOST_REQUIRE(!srv->connections().send(id, word));
    expected += word;
  }
  BOOST_TEST((c.receive(expected.size()) == expected));
}

}  // namespace
}  // namespace quintet::test
