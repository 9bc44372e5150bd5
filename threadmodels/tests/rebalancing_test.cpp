// SPDX-License-Identifier: BSL-1.0
// rebalancing_test: the rebalancer removes a skew under load, by connections and by CPU time; invalid options are
// refused.
#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;

constexpr std::array looping_models{model::loop_per_thread, model::loop_per_thread_pool};

/// Echoes.
struct echo {
  void operator()(connection& c, bytes in) const { c.write(in); }
};

config configuration(model kind, rebalance_measure by) {
  return {.listen = {"127.0.0.1:0"},
          .model = kind,
          .threads = {.loops = 2, .workers = {2, 2}},
          .engine = engine_kind::epoll,
          .advanced = {.rebalance = {.factor = 1.2, .by = by}}};
}

/// Clients that always have a request outstanding, each on its own connection.
class load {
 public:
  load(std::uint16_t port, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) clients_.emplace_back(port);
    thread_ = std::thread([this] { run(); });
  }
  ~load() {
    ending_ = true;
    thread_.join();
  }
  load(const load&) = delete;
  load& operator=(const load&) = delete;
  [[nodiscard]] std::uint64_t answered() const { return answered_; }
  [[nodiscard]] bool right() const { return right_; }

 private:
  void run() {
    for (std::uint64_t n = 0; !ending_; ++n) {
      const std::string request = std::to_string(n) + "\n";
      for (client& c : clients_) right_ = c.send(request) && right_;
      for (client& c : clients_) right_ = c.receive_line() + "\n" == request && right_;
      answered_ += clients_.size();
    }
  }
  std::vector<client> clients_;
  std::atomic<bool> ending_{false}, right_{true};
  std::atomic<std::uint64_t> answered_{0};
  std::thread thread_;
};

std::uint64_t open_on(event_loop& loop) { return loop.counters().open(); }

BOOST_DATA_TEST_CASE(three_to_one_under_load, data::make(looping_models), kind) {
  constexpr std::size_t connections = 400;
  running<server> srv(configuration(kind, rebalance_measure::connections), echo());
  event_loop &busy = *srv->loops().at(0), &idle = *srv->loops().at(1);
  load clients(srv->port(), connections);
  BOOST_TEST(eventually([&] { return open_on(busy) == connections / 2 && open_on(idle) == connections / 2; }));
  // Half of the second loop's connections migrate to the first one while they are at work.
  std::size_t moved = 0;
  for (const connection_id id : srv->connections().all())
    moved += !srv->connections().post(id, [&busy, &idle, n = id.slot](connection& c) {
      if (&c.loop() == &idle && n % 2 == 0) (void)c.move_to(busy);
    });
  BOOST_TEST(moved == connections);
  BOOST_TEST(eventually([&] { return open_on(busy) >= connections * 7 / 10; }));
  const auto began = std::chrono::steady_clock::now();
  const std::uint64_t before = open_on(busy);
  BOOST_TEST(eventually([&] { return 10 * open_on(busy) <= 12 * open_on(idle); }));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  BOOST_TEST_MESSAGE(kind << ": " << before << " : " << connections - before << " was below 1.2 : 1 after "
                          << took.count() << " s, with " << clients.answered() << " requests answered");
  BOOST_TEST(eventually([&] { return srv->statistics().rebalanced > 0; }));
  const std::uint64_t so_far = clients.answered();
  BOOST_TEST(eventually([&] { return clients.answered() > so_far + connections; }));
  BOOST_TEST(clients.right());
}

// Both loops have equally many connections, but all active ones are on the same loop.
BOOST_DATA_TEST_CASE(by_cpu_time, data::make(looping_models), kind) {
  config c = configuration(kind, rebalance_measure::cpu_time);
  std::atomic<std::size_t> next{0};
  c.placement.place_by = [&next](const address&, std::span<const std::size_t>) { return next.load(); };
  running<server> srv(c, echo());
  std::vector<client> idle;
  next = 1;
  for (int i = 0; i < 40; ++i) idle.emplace_back(srv->port());
  BOOST_TEST(eventually([&] { return open_on(*srv->loops()[1]) == 40U; }));
  next = 0;
  load busy(srv->port(), 40);
  BOOST_TEST(eventually([&] { return srv->statistics().moved_here >= 5U; }));
  const auto batches = [&] { return srv->loops()[1]->counters().batches.value(); };
  const std::uint64_t so_far = batches();
  BOOST_TEST(eventually([&] { return batches() > so_far + 1000; }));
  BOOST_TEST(busy.right());
}

// ---- Invalid options ------------------------------------------------------------------------------------------------

template <class Handler>
std::string refusal(const config& c, Handler h) {
  try {
    const server srv(c, std::move(h));
    return "none";
  } catch (const config_error& e) {
    return e.what();
  }
}

BOOST_AUTO_TEST_CASE(options_that_cannot_be) {
  const auto of = [](auto change) {
    config c = configuration(model::loop_per_thread, rebalance_measure::connections);
    change(c);
    return refusal(c, echo());
  };
  BOOST_TEST(of([](config&) {}) == "none");
  BOOST_TEST(of([](config& c) { c.advanced.rebalance.factor = 1.04; }).starts_with("rebalance.factor is "));
  BOOST_TEST(of([](config& c) { c.advanced.rebalance.factor = -1; }).starts_with("rebalance.factor is "));
  BOOST_TEST(
      of([](config& c) { c.advanced.rebalance.interval = duration::zero(); }).starts_with("rebalance.interval is "));
  BOOST_TEST(of([](config& c) { c.engine = engine_kind::asio; }).starts_with("rebalance.factor is "));
  const auto with_tables = [](config& c) {
    c.advanced.accept = accept_strategy::reuse_port;
    c.placement.own_descriptors = true;
  };
  BOOST_TEST(of(with_tables).starts_with("rebalance.factor is "));
}

struct coroutine {
  awaitable<> operator()(stream& s) const {
    while (auto in = co_await s.read()) s.write(*in);
  }
};

BOOST_AUTO_TEST_CASE(handlers_that_stay) {
  const config c = configuration(model::loop_per_thread, rebalance_measure::connections);
  BOOST_TEST(refusal(c, coroutine()).starts_with("rebalance.factor is "));
}

}  // namespace
}  // namespace quintet::test
