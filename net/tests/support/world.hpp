// SPDX-License-Identifier: BSL-1.0
// world: a server on a network in memory, driven by hand, with the loops and pools of the five models.
#pragma once

#include "end_reasons.hpp"

#include <quintet/net/server/basic_server.hpp>

#include <quintet/net/simulation.hpp>

#include <boost/test/unit_test.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace quintet::testing {

struct shape {
  std::size_t loops;
  bool pooled;
};
inline std::ostream& operator<<(std::ostream& out, const shape& s) {
  return out << s.loops << " loops" << (s.pooled ? ", pooled" : ", inline");
}
inline const std::vector<shape> shapes{{0, false}, {0, true}, {3, false}, {3, true}};

/// The destructor stops the server and checks that every handle is closed.
template <class Handler, class Model = simulated_model>
class world {
 public:
  static constexpr std::uint16_t port = 7;

  world(std::uint64_t seed, shape s, Handler h, const connection_limits& limits = {}, std::size_t max_total = 1U << 30U,
        const rebalance_options& rebalance = {}, std::size_t max_input_total = 1U << 30U)
      : world(
            seed,
            {.limits = limits,
             .memory = {.max_output_total = max_total, .max_input_total = max_input_total},
             .advanced = {.rebalance = rebalance}},
            [&s](simulation& on) { return simulated_model(on, s.loops, s.pooled); }, std::move(h)) {}
  /// `make_model`: returns a Model for the simulation that it gets.
  template <std::invocable<simulation&> MakeModel>
  world(std::uint64_t seed, server_options o, MakeModel make_model, Handler h) : sim(seed) {
    o.listen = {"127.0.0.1:7"};
    o.make_engine = [this] { return sim.network().make_engine(); };
    o.time = &sim.time();
    server.emplace(o, make_model(sim), std::move(h));
    server->start();
    sim.drive(server->main_loop());
  }
  world(const world&) = delete;
  world& operator=(const world&) = delete;
  ~world() {
    if (server) stop();
    for (const int c : clients_) sim.network().close(c);
    BOOST_TEST(sim.network().open_handles() == 0U);
  }

  void stop() {
    server->stop();
    sim.run_until_quiet();
    BOOST_TEST(server->main_loop().finished());
    server->finish();
    BOOST_TEST(sum_of_reasons(statistics()) == statistics().closed);
    server.reset();
  }

  int connect() {
    const int c = sim.network().connect(port);
    BOOST_REQUIRE(c >= 0);
    clients_.push_back(c);
    sim.run_until_quiet();
    return c;
  }
  void send(int client, bytes data) {
    sim.network().send(client, data);
    sim.run_until_quiet();
  }
  /// Runs until the simulation is quiet, and returns the bytes that the client has received.
  std::string received(int client) {
    std::string all;
    for (std::string more; sim.run_until_quiet(), !(more = sim.network().receive(client)).empty();) all += more;
    return all;
  }
  std::string converse(int client, bytes data) {
    send(client, data);
    return received(client);
  }
  /// Returns whether the client has received the end of the stream or a reset.
  bool ended(int client) { return sim.network().at_end(client) || sim.network().was_reset(client); }
  server_statistics statistics() { return server->statistics(); }

  simulation sim;
  std::optional<basic_server> server;

 private:
  std::vector<int> clients_;
};

}  // namespace quintet::testing
