// SPDX-License-Identifier: BSL-1.0
// pool_lifetime_test: connection pools are destroyed before their leases end, and while coroutines wait in get().
#include <boost/test/unit_test.hpp>

#include "census.hpp"
#include "client.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/net/connection_pool.hpp>
#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/system/system_error.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quintet::test {
namespace {

const auto nothing = [](connection&, bytes) {};
using back_server = running<server>;

/// State shared by all connections, which live on one loop.
struct shared {
  destination upstream;
  std::optional<connection_pool> pool;
};

/// Executes each byte: "g" gets a lease and keeps it, "r" returns all leases, "d" destroys the pool, "n" makes another
/// one.
struct holder {
  shared* all;
  awaitable<> operator()(stream& s) const {
    std::vector<connection_pool::lease> held;
    while (const auto in = co_await s.read()) {
      const std::string asked(*in);
      for (const char what : asked) {
        char answer = what;
        if (what == 'g') answer = co_await get(held);
        if (what == 'r') held.clear();
        if (what == 'd') all->pool.reset();
        if (what == 'n') all->pool.emplace(s.loop(), all->upstream, connection_pool_options{.max = 1});
        s.write({&answer, 1});
      }
    }
  }
  awaitable<char> get(std::vector<connection_pool::lease>& held) const {
    if (!all->pool) co_return 's';
    try {
      held.push_back(co_await all->pool->get());
      co_return 'g';
    } catch (const boost::system::system_error& e) {
      co_return e.code() == errc::stopped ? 's' : 'x';
    }
  }
};

std::string ask(client& c, const std::string& what) {
  c.send(what);
  return c.receive(what.size());
}

BOOST_AUTO_TEST_CASE(before_leases_and_waiters) {
  const std::size_t descriptors = descriptors_of("");
  for (int i = 0; i < 20; ++i) {
    back_server back(config{.listen = {"127.0.0.1:0"}, .model = model::single_reactor}, nothing);
    shared all{back->addresses()[0], {}};
    running<server> front(config{.model = model::single_reactor}, holder{&all});
    client keeps(front->port()), waits(front->port()), ends(front->port());
    BOOST_TEST(ask(keeps, "ng") == "ng");
    waits.send("g");
    BOOST_TEST(eventually([&] { return front->statistics().bytes_received == 3; }));
    BOOST_TEST(ask(ends, "d") == "d");
    BOOST_TEST(waits.receive(1) == "s");
    BOOST_TEST(ask(ends, "ng") == "ng");  // another pool; the lease does not return to this one
    if (i % 2 == 0) {
      BOOST_TEST(ask(keeps, "r") == "r");
      BOOST_TEST(eventually([&] { return back->statistics().closed == 1; }));
    }
    if (i % 4 < 2) BOOST_TEST(ask(ends, "d") == "d");
    front.stop();
    front.join();
    all.pool.reset();  // on another thread than the loop's, after the loop has stopped
  }
  BOOST_TEST(descriptors_of("") == descriptors);
}

// The pool is destroyed while it connects for waiting coroutines.
BOOST_AUTO_TEST_CASE(while_it_connects) {
  back_server back(config{.listen = {"127.0.0.1:0"}, .model = model::single_reactor}, nothing);
  shared all{back->addresses()[0], {}};
  running<server> front(config{.model = model::single_reactor}, holder{&all});
  for (int i = 0; i < 50; ++i) {
    client first(front->port()), second(front->port());
    BOOST_TEST(ask(first, "n") == "n");
    first.send("g");
    second.send("d");
    const std::string got = first.receive(1);
    BOOST_TEST((got == "g" || got == "s"), got);
    BOOST_TEST(second.receive(1) == "d");
  }
  front.stop();
  front.join();
  all.pool.reset();
}

}  // namespace
}  // namespace quintet::test
