// SPDX-License-Identifier: BSL-1.0
// acceptor_group_test: the nearest available accept strategy replaces one that is not, with one warning.
#include <quintet/net/server/acceptor_group.hpp>
#include <quintet/net/simulation.hpp>

#include "poll_engine.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>
#include <vector>

using namespace quintet;
using testing::simulation;

namespace {

/// A group that no connection reaches, on two loops.
struct wanted {
  wanted(accept_strategy strategy, event_loop& main, std::vector<event_loop*> loops, bool strictly = false)
      : options{.log = [this](const log_event& e) { warnings.emplace_back(e.what); },
                .advanced = {.accept = strategy, .accept_strictly = strictly}},
        limiter(options.accepting),
        group(main, std::move(loops), options, limiter, [](event_loop&, stream_handle&&, connection_permit) {}) {}
  std::vector<std::string> warnings;
  server_options options;
  connection_limiter limiter;
  acceptor_group group;
};

/// Loops whose engine has one acceptor only.
struct loops_in_memory {
  simulation sim{1};
  event_loop main{sim.network().make_engine(), sim.time()};
  std::vector<event_loop*> loops{&sim.make_loop(), &sim.make_loop()};
};

/// Loops whose engine can share a port, but not a socket. No loop has a CPU of its own.
struct loops_that_share_a_port {
  event_loop main{std::make_unique<testing::poll_engine>()}, first{std::make_unique<testing::poll_engine>()},
      second{std::make_unique<testing::poll_engine>()};
  std::vector<event_loop*> loops{&first, &second};
};

std::string warning(accept_strategy strategy, const std::string& why, accept_strategy used) {
  return "accept: " + std::string(to_string(strategy)) + " is not available: " + why + "; " +
         std::string(to_string(used)) + " is used instead";
}

const std::string of_engine = "the engine does not support it";

}  // namespace

BOOST_AUTO_TEST_CASE(an_engine_with_one_acceptor_is_reported_once) {
  loops_in_memory on;
  using enum accept_strategy;
  for (const accept_strategy strategy : {reuse_port, reuse_port_cpu, exclusive}) {
    const wanted w(strategy, on.main, on.loops);
    BOOST_TEST((w.group.strategy() == main_reactor));
    BOOST_TEST(w.warnings == std::vector<std::string>{warning(strategy, of_engine, main_reactor)},
               boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(reuse_port_replaces_what_only_some_engines_have) {
  loops_that_share_a_port on;
  using enum accept_strategy;
  const wanted socket(exclusive, on.main, on.loops), cpu(reuse_port_cpu, on.main, on.loops);
  BOOST_TEST((socket.group.strategy() == reuse_port));
  BOOST_TEST(socket.warnings == std::vector<std::string>{warning(exclusive, of_engine, reuse_port)},
             boost::test_tools::per_element());
  BOOST_TEST((cpu.group.strategy() == reuse_port));
  BOOST_TEST(
      cpu.warnings == std::vector<std::string>{warning(reuse_port_cpu, "each loop needs a CPU of its own", reuse_port)},
      boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_available_strategy_is_used_in_silence) {
  loops_that_share_a_port on;
  for (const accept_strategy strategy : {accept_strategy::reuse_port, accept_strategy::main_reactor}) {
    const wanted w(strategy, on.main, on.loops);
    BOOST_TEST((w.group.strategy() == strategy));
    BOOST_TEST(w.warnings.empty());
  }
}

BOOST_AUTO_TEST_CASE(a_strict_server_names_the_strategy_that_was_asked_for) {
  loops_in_memory on;
  BOOST_CHECK_EXCEPTION(wanted(accept_strategy::exclusive, on.main, on.loops, true), config_error, [](const auto& e) {
    return std::string(e.what()) == "accept: exclusive is not available: the engine does not support it";
  });
}
