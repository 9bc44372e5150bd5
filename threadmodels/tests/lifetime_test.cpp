// SPDX-License-Identifier: BSL-1.0
// lifetime_test: servers and other objects begin and end in any order, by any thread, and leave nothing behind.
// ctest: LABELS slow EACH_ENGINE
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "../../net/tests/support/sockets.hpp"
#include "census.hpp"
#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/client.hpp>
#include <quintet/threadmodels/compute/worker_pool.hpp>
#include <quintet/threadmodels/server.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;

constexpr std::chrono::seconds deadline{30};

struct echo {
  void operator()(connection& c, bytes in) const { c.write(in); }
};
awaitable<> echo_coroutine(stream& s) {
  while (const auto in = co_await s.read()) s.write(*in);
}

config of(model kind, const listen_options& at = "127.0.0.1:0") {
  return {
      .listen = {at, {"127.0.0.1:0", {.priority = true}}}, .model = kind, .threads = {.loops = 2, .workers = {1, 2}}};
}
void on_another_thread(const std::function<void()>& f) { std::thread(f).join(); }

/// A posted function posts more, and at last tells the server to drain.
template <class Server>
void post_in_a_row(Server& s, const std::shared_ptr<int>& count) {
  s.main_loop().post([&s, count] {
    if (++*count < 5) return post_in_a_row(s, count);
    s.drain(deadline);
    s.main_loop().post([&s] { (void)s.connections().all(); });
  });
}

BOOST_DATA_TEST_CASE(told_all_sorts_of_things_and_never_run, data::make(all_models), kind) {
  const auto count = std::make_shared<int>(0);
  auto srv = std::make_unique<server>(of(kind), echo());
  srv->drain(deadline);
  srv->drain(deadline);
  post_in_a_row(*srv, count);
  on_another_thread([&] { srv.reset(); });
  auto stopped = std::make_unique<server>(of(kind), echo());
  stopped->stop();
  stopped->drain(deadline);
  on_another_thread([&] { stopped.reset(); });
  auto here = std::make_unique<quintet::client>(client_config{.model = kind}, echo());
  here->drain(deadline);
  post_in_a_row(*here, std::make_shared<int>(0));
  on_another_thread([&] { here.reset(); });
  BOOST_TEST(*count == 5);
  BOOST_TEST(count.use_count() == 1);
}

BOOST_DATA_TEST_CASE(told_the_same_when_it_has_run, data::make(all_models), kind) {
  const auto count = std::make_shared<int>(0);
  auto srv = std::make_unique<server>(of(kind), echo());
  srv->stop();
  srv->run();
  srv->stop();
  srv->drain(deadline);
  post_in_a_row(*srv, count);
  srv.reset();
  BOOST_TEST(count.use_count() == 1);
}

BOOST_DATA_TEST_CASE(each_step_on_a_thread_of_its_own, data::make(all_models), kind) {
  std::unique_ptr<server> srv;
  on_another_thread([&] { srv = std::make_unique<server>(of(kind), echo()); });
  std::thread running([&] { srv->run(); });
  on_another_thread([&] {
    client c(srv->port());
    c.send("x");
    BOOST_TEST(c.receive(1) == "x");
  });
  on_another_thread([&] { srv->stop(); });
  running.join();
  on_another_thread([&] { srv.reset(); });
  BOOST_TEST(eventually(no_server_threads));
}

// Ends them during conversations, all at once, each several times.
BOOST_DATA_TEST_CASE(stopped_and_drained_by_many_threads, data::make(all_models), kind) {
  for (int i = 0; i < 20; ++i) {
    running<server> srv(of(kind), echo());
    quintet::client here(client_config{.model = kind, .threads = {.loops = 2, .workers = {1, 2}}}, &echo_coroutine);
    here.run_in_background();
    here.connect(srv->addresses()[0]);
    client c(srv->port());
    c.send("x");
    BOOST_TEST(c.receive(1) == "x");
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int n = 0; n < 3; ++n) {
          if ((t + n) % 2 == 0) srv->stop();
          if ((t + n) % 2 == 1) srv->drain(deadline);
          if ((t + n + i) % 3 == 0) here.stop();
          if ((t + n + i) % 3 == 1) here.drain(deadline);
        }
      });
    for (std::thread& t : threads) t.join();
    srv.join();
    here.join();
  }
}

BOOST_DATA_TEST_CASE(a_hundred_times_on_one_port, data::make(all_combinations), under) {
  const quintet::testing::own_address at;
  const config c{.listen = {at.text()}, .model = under.kind, .threads = {.loops = 2, .workers = {1, 2}}};
  const auto once = [&](auto handler) {
    running<server> srv(c, handler);
    client first(srv->port()), second(srv->port());
    first.send("x");
    const bool right = first.receive(1) == "x";
    second.send(std::string(1000, 'y'));  // still being sent when the server ends
    srv.stop();
    srv.join();
    return right;
  };
  int right = 0;
  for (int i = 0; i < 100; ++i) right += under.is_coroutine() ? once(&echo_coroutine) : once(echo());
  BOOST_TEST(right == 100);
}

/// Stores the ids of its connections.
struct remembering {
  std::mutex* mutex;
  std::vector<connection_id>* ids;
  void on_open(connection& c) const {
    const std::lock_guard lock(*mutex);
    ids->push_back(c.id());
  }
  void operator()(connection& c, bytes in) const { c.write(in); }
};

BOOST_DATA_TEST_CASE(ids_that_are_kept_for_longer_than_their_connections, data::make(all_models), kind) {
  std::mutex mutex;
  std::vector<connection_id> ids;
  const auto held = std::make_shared<int>(0);
  {
    running<server> srv(of(kind), remembering{&mutex, &ids});
    connection_registry& registry = srv->connections();
    client c(srv->port());
    c.send("x");
    BOOST_TEST(c.receive(1) == "x");
    for (int i = 0; i < 100; ++i) {  // some are queued when the server stops
      if (i == 50) srv.stop();
      (void)registry.post(ids[0], [held](connection&) { ++*held; });
      (void)registry.send(ids[0], "news");
    }
    srv.join();
    const int ran = *held;
    BOOST_TEST((registry.send(ids[0], "news") == errc::no_such_connection));
    BOOST_TEST((registry.close(ids[0]) == errc::no_such_connection));
    BOOST_TEST((registry.post(ids[0], [held](connection&) { ++*held; }) == errc::no_such_connection));
    BOOST_TEST(registry.broadcast(ids, std::make_shared<const std::string>("news")) == 0U);
    BOOST_TEST(registry.all().empty());
    BOOST_TEST(*held == ran);
    BOOST_TEST(held.use_count() == 1);
  }
  const connection_id copy = ids[0];  // a plain value, without a connection
  BOOST_TEST((copy == ids[0]));
}

/// Everything that one program can have, with conversations in progress. Other threads than the creating one end the
/// parts, in the given order.
void household(model kind, const std::vector<int>& order) {
  const auto count = std::make_shared<std::atomic<int>>(0);
  struct counted final : work_item {
    explicit counted(std::shared_ptr<std::atomic<int>> c) : work_item(&counted::run), count(std::move(c)) {}
    static void run(work_item& item) noexcept {
      const std::unique_ptr<counted> self(static_cast<counted*>(&item));
      ++*self->count;
    }
    std::shared_ptr<std::atomic<int>> count;
  };
  const quintet::testing::own_address one, two;  // `caller` calls them when they have ended, too
  auto first = std::make_unique<running<server>>(of(kind, one.text()), echo());
  auto second = std::make_unique<running<server>>(of(kind, two.text()), &echo_coroutine);
  auto caller = std::make_unique<quintet::client>(
      client_config{.model = kind, .reconnect = reconnect_options{.base = std::chrono::microseconds(10)}}, echo());
  caller->run_in_background();
  for (const address& there : {one.at(), two.at()}) caller->connect(there);
  auto pool = std::make_unique<worker_pool>(worker_limits{1, 2});
  auto loop = std::make_unique<event_loop>();
  auto turning = std::make_unique<loop_thread>(*loop, "qnt-test");
  BOOST_TEST(eventually([&] { return caller->connections().size() == 2; }));
  for (const connection_id id : caller->connections().all()) (void)caller->connections().send(id, "for ever");
  for (int i = 0; i < 10; ++i) {
    pool->submit(*new counted(count));
    loop->post(*new counted(count));
  }
  const std::vector<std::function<void()>> ends{[&] { first.reset(); }, [&] { second.reset(); },
                                                [&] { caller.reset(); }, [&] { pool.reset(); },
                                                [&] {
                                                  turning.reset();
                                                  loop.reset();
                                                }};
  for (const int n : order) on_another_thread(ends[static_cast<std::size_t>(n)]);
  BOOST_TEST(*count == 20);
  BOOST_TEST(count.use_count() == 1);
}

BOOST_DATA_TEST_CASE(in_any_order, data::make(all_models), kind) {
  const std::size_t descriptors = descriptors_of("");
  std::vector<int> order{0, 1, 2, 3, 4};
  std::mt19937 random(static_cast<unsigned>(kind));
  for (int i = 0; i < 30; ++i) {
    std::ranges::shuffle(order, random);
    household(kind, order);
  }
  BOOST_TEST(eventually(no_server_threads));
  BOOST_TEST(descriptors_of("") == descriptors);
}

}  // namespace
}  // namespace quintet::test
