// SPDX-License-Identifier: BSL-1.0
// own_model_test: a user's own models and handlers work in a server, whose type has neither.
#include <boost/test/unit_test.hpp>

#include "client.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/models.hpp>
#include <quintet/threadmodels/server.hpp>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace quintet::test {
namespace {

struct echo {
  void operator()(connection& c, bytes in) const { c.write(in); }
};

std::string round_trip(client& c, const std::string& text) {
  c.send(text);
  return c.receive(text.size());
}

/// Places a connection on the loop that has the fewest.
class least_connections {
 public:
  explicit least_connections(std::size_t loops) : counts_(std::make_unique<counts>()) {
    for (std::size_t i = 0; i < loops; ++i) loops_.push_back(std::make_unique<running_loop>(make_default_engine()));
  }
  void start(event_loop&) {
    for (auto& l : loops_) {
      l->thread.emplace(l->loop, "own-loop");
      counts_->of[&l->loop] = 0;
    }
  }
  event_loop& place() {
    const std::lock_guard lock(counts_->mutex);
    const auto fewest = std::ranges::min_element(counts_->of, {}, [](const auto& entry) { return entry.second; });
    ++fewest->second;
    return *fewest->first;
  }
  void release(event_loop& loop) noexcept {
    const std::lock_guard lock(counts_->mutex);
    --counts_->of.at(&loop);
  }
  static void run(work_item& item) noexcept { item(); }
  void stop() noexcept {
    for (auto& l : loops_) l->loop.stop();
    for (auto& l : loops_) l->thread.reset();
  }
  [[nodiscard]] std::vector<int> numbers() const {
    const std::lock_guard lock(counts_->mutex);
    std::vector<int> result;
    for (const auto& [loop, count] : counts_->of) result.push_back(count);
    std::ranges::sort(result);
    return result;
  }

 private:
  struct counts {
    std::mutex mutex;
    std::map<event_loop*, int> of;
  };
  std::shared_ptr<counts> counts_;  // shared with the copy of the model that the test reads
  std::vector<std::shared_ptr<running_loop>> loops_;
};
static_assert(thread_model<least_connections>);

/// Places connections on a loop that runs only once the server stops.
class late_loop {
 public:
  late_loop() : late_(std::make_shared<running_loop>(make_default_engine())) {}
  static void start(event_loop&) noexcept {}
  event_loop& place() noexcept { return late_->loop; }
  static void run(work_item& item) noexcept { item(); }
  void stop() {
    late_->loop.stop();
    late_->thread.emplace(late_->loop, "late-loop");
    late_->thread.reset();
  }

 private:
  std::shared_ptr<running_loop> late_;
};

BOOST_AUTO_TEST_CASE(a_model_fixed_at_compile_time) {
  running<server> srv(server_options{}, single_reactor(), echo());
  client c(srv->port());
  BOOST_TEST(round_trip(c, "single") == "single");
}

void serve_one_echo(server& srv) {
  std::thread running([&srv] { srv.run(); });
  client c(srv.port());
  BOOST_TEST(round_trip(c, "any") == "any");
  srv.stop();
  running.join();
}

BOOST_AUTO_TEST_CASE(a_function_takes_a_server_of_any_model_and_any_handler) {
  const auto coroutine = [](stream& s) -> awaitable<> {
    while (const auto in = co_await s.read()) s.write(*in);
  };
  for (const model kind : all_models) {
    server callbacks(config{.model = kind}, echo()), coroutines(config{.model = kind}, coroutine);
    serve_one_echo(callbacks);
    serve_one_echo(coroutines);
  }
  server own(server_options{}, late_loop(), echo()), pooled(server_options{}, reactor_pool(3), coroutine);
  serve_one_echo(pooled);
  BOOST_TEST(pooled.statistics().workers.threads == 0U);
  own.stop();
  own.run();
}

BOOST_AUTO_TEST_CASE(a_server_of_a_model_as_a_type_tells_the_pool) {
  running<server> srv(server_options{}, reactor_pool(3), echo());
  client c(srv->port());
  BOOST_TEST(round_trip(c, "pool") == "pool");
  BOOST_TEST(srv->statistics().workers.threads == 3U);
}

BOOST_AUTO_TEST_CASE(a_placement_of_ones_own) {
  const least_connections placement(3);
  running<server> srv(server_options{}, placement, echo());
  std::vector<client> clients;
  for (int i = 0; i < 6; ++i) {
    clients.emplace_back(srv->port());
    BOOST_TEST(round_trip(clients.back(), "placed") == "placed");
  }
  BOOST_TEST(placement.numbers() == (std::vector<int>{2, 2, 2}), boost::test_tools::per_element());
  clients.erase(clients.begin(), clients.begin() + 3);
  BOOST_REQUIRE(eventually([&] { return placement.numbers() == std::vector<int>{1, 1, 1}; }));
  for (int i = 0; i < 3; ++i) {
    clients.emplace_back(srv->port());
    BOOST_TEST(round_trip(clients.back(), "again") == "again");
  }
  BOOST_TEST(placement.numbers() == (std::vector<int>{2, 2, 2}), boost::test_tools::per_element());
}

// A combination without a name: a loop for each connection, and handlers on a pool.
BOOST_AUTO_TEST_CASE(own_loops_and_a_pool) {
  using sixth = composed_model<on_own_loop, run_pooled>;
  running<server> srv(server_options{}, sixth(on_own_loop(), run_pooled({1, 2})), echo());
  std::vector<client> clients;
  for (int i = 0; i < 5; ++i) clients.emplace_back(srv->port());
  const std::string large(2'000'000, 'x');
  for (int round = 0; round < 20; ++round)
    for (client& c : clients) BOOST_REQUIRE(round_trip(c, "sixth") == "sixth");
  std::thread sender([&] { clients[0].send(large); });
  BOOST_TEST((clients[0].receive(large.size()) == large));
  sender.join();
}

BOOST_AUTO_TEST_CASE(own_loops_and_a_pool_stop_while_a_peer_does_not_read) {
  using sixth = composed_model<on_own_loop, run_pooled>;
  const auto flood = [](connection& c, bytes) { c.write(std::string(32'000'000, 'x')); };
  running<server> srv(server_options{}, sixth(on_own_loop(), run_pooled({1, 2})), flood);
  client c(srv->port(), {.receive_buffer = 16 * 1024});
  c.send("go");
  BOOST_TEST(c.receive(1) == "x");
  srv.stop();
  srv.join();
}

// A connection whose loop stops before its start gets neither on_open nor on_close.
BOOST_AUTO_TEST_CASE(a_connection_that_comes_too_late_is_never_opened) {
  struct counted {
    std::atomic<int>* calls;
    void on_open(connection&) const { ++*calls; }
    void operator()(connection&, bytes) const { ++*calls; }
    void on_close(connection&, error_code) const { ++*calls; }
  };
  std::atomic<int> calls{0};
  running<server> srv(server_options{}, late_loop(), counted{&calls});
  client c(srv->port());
  BOOST_REQUIRE(eventually([&] { return srv->statistics().accepted == 1; }));
  srv.stop();
  srv.join();
  BOOST_TEST(calls == 0);
  BOOST_TEST(c.receive_rest().empty());
}

BOOST_AUTO_TEST_CASE(a_coroutine_that_comes_too_late_never_starts) {
  static std::atomic<int> started;
  started = 0;
  const auto serve = [](stream& s) -> awaitable<> {
    ++started;
    (void)co_await s.read();
  };
  running<server> srv(server_options{}, late_loop(), serve);
  client c(srv->port());
  BOOST_REQUIRE(eventually([&] { return srv->statistics().accepted == 1; }));
  srv.stop();
  srv.join();
  BOOST_TEST(started == 0);
  BOOST_TEST(c.receive_rest().empty());
}

BOOST_AUTO_TEST_CASE(a_factory_makes_handlers_that_cannot_be_copied) {
  struct numbered {
    std::unique_ptr<int> number;
    void operator()(connection& c, bytes) { c.write(std::to_string((*number)++)); }
  };
  for (const model kind : all_models) {
    std::atomic<int> made{0};
    const auto make = [&made] { return numbered{std::make_unique<int>(100 * ++made)}; };
    running<server> srv(config{.model = kind}, handler_factory(make));
    client a(srv->port()), b(srv->port());
    std::set<std::string> first{round_trip(a, "xyz"), round_trip(b, "xyz")},
        second{round_trip(a, "xyz"), round_trip(b, "xyz")};
    BOOST_TEST(first == (std::set<std::string>{"100", "200"}), boost::test_tools::per_element());
    BOOST_TEST(second == (std::set<std::string>{"101", "201"}), boost::test_tools::per_element());
    BOOST_TEST(made == 2);
  }
}

BOOST_AUTO_TEST_CASE(a_factory_of_coroutines) {
  const auto make = [] {
    return [](stream& s) -> awaitable<> {
      while (const auto in = co_await s.read()) s.write(*in);
    };
  };
  running<server> srv(config{}, handler_factory(make));
  client c(srv->port());
  BOOST_TEST(round_trip(c, "made") == "made");
}

}  // namespace
}  // namespace quintet::test
