// SPDX-License-Identifier: BSL-1.0
// handshakes_aside_test: in every model, a step of a handshake delays neither established connections nor the priority
// port. A source of the test stands for TLS, so that a step takes as long as the test wants.
#include "census.hpp"
#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/net/engine/filter/handshake.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <latch>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;

/// Its only step waits for the test, and fails.
struct slow_source final : handshake_source {
  struct one final : handshake {
    explicit one(slow_source& of) noexcept : source(of) {}
    result step(bytes, std::string& out) override {
      source.begun.count_down();
      source.may_end.wait();
      out += "alert";
      return {.failed = errc::tls_handshake_failed};
    }
    std::unique_ptr<filter> take_filter() override { return nullptr; }  // not called: the step fails
    slow_source& source;
  };
  [[nodiscard]] first_record examine(bytes first) const noexcept override { return {!first.empty(), {}}; }
  [[nodiscard]] std::unique_ptr<handshake> begin(std::string_view) override { return std::make_unique<one>(*this); }
  std::latch begun{1}, may_end{1};
};

config beside_plain(model kind, const std::shared_ptr<slow_source>& source) {
  config c{.listen = {"127.0.0.1:0", {"127.0.0.1:0", {.tls = source}}, {"127.0.0.1:0", {.priority = true}}},
           .model = kind};
  c.threads.loops = 1;
  c.threads.handshakes = 1;
  return c;
}

std::size_t echo(connection& c, bytes in) {
  c.write(in);
  return in.size();
}

void check_echo(client& c) {
  c.send("echo");
  BOOST_TEST(c.receive(4) == "echo");
}

std::size_t aside_threads() { return threads_named("qnt-aside-")["qnt-aside-"]; }

/// Calls f once, when the last copy is destroyed.
template <class F>
std::shared_ptr<void> on_destruction(F f) {
  return {nullptr, [f = std::move(f)](void*) { f(); }};
}

BOOST_AUTO_TEST_SUITE(handshakes_aside)

BOOST_DATA_TEST_CASE(a_step_delays_nobody, data::make(all_models), kind) {
  const auto source = std::make_shared<slow_source>();
  running<server> srv(beside_plain(kind, source), &echo);
  client established(srv->addresses()[0].port()), priority(srv->addresses()[2].port());
  check_echo(established);
  client secured(srv->addresses()[1].port());
  secured.send("x");
  source->begun.wait();
  check_echo(established);
  check_echo(priority);
  client fresh(srv->addresses()[0].port());  // accepted meanwhile, on the same loop
  check_echo(fresh);
  source->may_end.count_down();
  BOOST_TEST(secured.receive_rest() == "alert");
}

BOOST_DATA_TEST_CASE(a_server_that_stops_waits_for_a_step, data::make(all_models), kind) {
  const auto source = std::make_shared<slow_source>();
  running<server> srv(beside_plain(kind, source), &echo);
  client secured(srv->addresses()[1].port());
  secured.send("x");
  source->begun.wait();
  srv.stop();
  source->may_end.count_down();
  srv.join();
  BOOST_TEST(srv->statistics().handshakes.begun == 1U);
}

// A thread that has given a step back to the main loop may still be about to wake it. The kernel's list may have a
// joined thread for a moment; one that is not joined is on it for as long as the loop's destruction lasts.
BOOST_DATA_TEST_CASE(no_thread_outlives_the_main_loop, data::make(all_models), kind) {
  bool have_ended = false;
  {
    const auto source = std::make_shared<slow_source>();
    server srv(beside_plain(kind, source), &echo);
    // The loop destroys the function, and what it owns, when it is destroyed itself.
    srv.main_loop().after(
        std::chrono::hours(1),
        [counted = on_destruction([&have_ended] { have_ended = eventually([] { return aside_threads() == 0; }); })] {});
    srv.run_in_background();
    client secured(srv.addresses()[1].port());
    secured.send("x");
    source->may_end.count_down();
    BOOST_TEST(secured.receive_rest() == "alert");
    BOOST_TEST(aside_threads() == 1U);
  }
  BOOST_TEST(have_ended);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace quintet::test
