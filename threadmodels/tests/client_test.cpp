// SPDX-License-Identifier: BSL-1.0
// client_test: clients and servers over real sockets, in every model and both flavours.
// ctest: EACH_ENGINE
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "../../net/tests/support/needs.hpp"
#include "../../net/tests/support/sockets.hpp"
#include "census.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/client.hpp>
#include <quintet/threadmodels/server.hpp>

#include <atomic>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;

const auto echo = [](connection& c, bytes in) { c.write(in); };
using echo_server = running<server>;

struct seen {
  std::atomic<int> opened{0}, right{0}, ended{0}, failed{0};
  std::atomic<bool> faults{false};
};
const std::string message(200'000, 'm');  // more than one batch

/// Sends a message, waits for its echo, and stays connected.
struct asking {
  seen* all;
  std::size_t left = message.size();
  void on_open(connection& c) {
    ++all->opened;
    c.write(message);
  }
  void operator()(connection&, bytes in) {
    if (in.find_first_not_of('m') != in.npos || in.size() > left) all->faults = true;
    if ((left -= in.size()) == 0) ++all->right;
  }
  void on_close(connection&, error_code) { ++all->ended; }
};
struct asking_coroutine {
  seen* all;
  awaitable<> operator()(stream& s) {
    ++all->opened;
    s.write(message);
    std::string got;
    while (auto in = co_await s.read()) {
      got += *in;
      if (co_await s.offload([&] { return got == message; })) ++all->right;
    }
    ++all->ended;
  }
};

client_config config_for(combination under, seen& all) {
  return {.model = under.kind,
          .threads = {.loops = 2, .workers = {1, 2}},
          .on_connect_failed = [&](const connect_failure&) { ++all.failed; }};
}
template <class F>
void with_handler(combination under, seen& all, F f) {
  if (under.is_coroutine())
    f(asking_coroutine{&all});
  else
    f(asking{&all});
}

BOOST_DATA_TEST_CASE(echo_through_a_client, data::make(all_combinations), under) {
  echo_server there(config{.listen = {"127.0.0.1:0"}, .model = under.kind, .threads = {.loops = 2}}, echo);
  seen all;
  with_handler(under, all, [&](auto handler) {
    client here(config_for(under, all), handler);
    here.connect(there->addresses()[0]);  // before it runs
    here.run_in_background();
    for (int i = 0; i < 4; ++i) here.connect(quintet::testing::loopback_name() + ':' + std::to_string(there->port()));
    BOOST_TEST(eventually([&] { return all.right == 5; }));
    BOOST_TEST(here.connections().size() == 5U);
    BOOST_TEST(here.statistics().bytes_received == 5 * message.size());
    here.connections().close(here.connections().all().front());
    BOOST_TEST(eventually([&] { return here.links() == 4; }));
  });
  BOOST_TEST(all.ended == 5);
  BOOST_TEST(!all.faults);
  BOOST_TEST(all.failed == 0);
  there.stop();
  there.join();
  BOOST_TEST(eventually(no_server_threads));
}

BOOST_DATA_TEST_CASE(refused, data::make(all_combinations), under) {
  const quintet::testing::own_address nobody;
  seen all;
  with_handler(under, all, [&](auto handler) {
    client_config c = config_for(under, all);
    client* self = nullptr;
    c.on_connect_failed = [&](const connect_failure& f) {
      if (f.reason != error_code(ECONNREFUSED, boost::system::system_category()) || f.again) all.faults = true;
      ++all.failed;
      self->stop();  // run() returns
    };
    client here(c, handler);
    self = &here;
    here.connect(nobody.at());
    here.run();
    BOOST_TEST(here.links() == 0U);
  });
  BOOST_TEST(all.failed == 1);
  BOOST_TEST(all.opened == 0);
  BOOST_TEST(!all.faults);
}

BOOST_DATA_TEST_CASE(reconnects_to_a_server_that_comes_back, data::make(all_combinations), under) {
  const quintet::testing::own_address own;
  const address& at = own.at();
  std::optional<echo_server> there(std::in_place, config{.listen = {own.text()}}, echo);
  seen all;
  with_handler(under, all, [&](auto handler) {
    client_config c = config_for(under, all);
    c.reconnect = {.base = std::chrono::milliseconds(1), .cap = std::chrono::milliseconds(20)};
    client here(c, handler);
    here.run_in_background();
    here.connect(at);
    BOOST_TEST(eventually([&] { return all.right == 1; }));
    there.reset();
    BOOST_TEST(eventually([&] { return all.failed >= 3; }));
    there.emplace(config{.listen = {listen_options(at.to_string())}}, echo);
    BOOST_TEST(eventually([&] { return all.right == 2; }));
    BOOST_TEST(here.links() == 1U);
  });
  BOOST_TEST(all.opened == all.ended);
  BOOST_TEST(!all.faults);
}

// For a client, a server that is killed and one that stops look alike: the kernel closes its sockets.
BOOST_DATA_TEST_CASE(twenty_restarts_of_the_peer, data::make(all_combinations), under) {
  constexpr int restarts = 20;
  constexpr duration cap = std::chrono::milliseconds(4);
  const quintet::testing::own_address own;
  const address& at = own.at();
  std::optional<echo_server> there(std::in_place, config{.listen = {own.text()}}, echo);
  seen all;
  std::atomic<int> too_late{0};
  with_handler(under, all, [&](auto handler) {
    client_config c = config_for(under, all);
    c.reconnect = {.base = std::chrono::milliseconds(1), .cap = cap};
    c.on_connect_failed = [&](const connect_failure& f) {
      ++all.failed;
      if (!f.again || *f.again > cap) ++too_late;
    };
    client here(c, handler);
    here.run_in_background();
    here.connect(at);
    for (int n = 1; n <= restarts; ++n) {
      BOOST_REQUIRE(eventually([&] { return all.right == n; }));
      const int failed = all.failed;
      there.reset();
      BOOST_REQUIRE(eventually([&] { return all.failed > failed; }));
      there.emplace(config{.listen = {listen_options(at.to_string())}}, echo);
    }
    BOOST_REQUIRE(eventually([&] { return all.right == restarts + 1; }));
    const client_statistics counted = here.statistics();
    BOOST_TEST(counted.opened == restarts + 1U);
    BOOST_TEST(eventually([&] { return here.statistics().closed == restarts; }));
    BOOST_TEST(counted.attempts == counted.opened + counted.failures);
    BOOST_TEST(counted.failures == static_cast<unsigned>(all.failed));
  });
  BOOST_TEST(too_late == 0);
  BOOST_TEST(!all.faults);
}

// The model refuses the second connection, and the link gets the reason.
BOOST_AUTO_TEST_CASE(a_model_without_a_place) {
  echo_server there(config{.listen = {"127.0.0.1:0"}}, echo);
  seen all;
  client_config c = config_for({model::thread_per_connection, flavour::callback}, all);
  c.threads.max_threads = 1;
  c.on_connect_failed = [&](const connect_failure& f) {
    if (f.reason == errc::too_many_threads) ++all.failed;
  };
  client here(c, asking{&all});
  here.run_in_background();
  here.connect(there->addresses()[0]);
  here.connect(there->addresses()[0]);
  BOOST_TEST(eventually([&] { return all.failed == 1; }));
  BOOST_TEST(eventually([&] { return here.links() == 1U; }));  // the hook is called before the link is removed
}

BOOST_AUTO_TEST_CASE(a_handler_that_cannot_be_made) {
  echo_server there(config{.listen = {"127.0.0.1:0"}}, echo);
  seen all;
  client_config c = config_for({model::loop_per_thread, flavour::callback}, all);
  c.on_connect_failed = [&](const connect_failure& f) {
    if (f.reason == errc::handler_threw) ++all.failed;
  };
  client here(c, handler_factory([&all]() -> asking {
                if (all.opened >= 0) throw std::runtime_error("no");
                return {&all};
              }));
  here.run_in_background();
  here.connect(there->addresses()[0]);
  BOOST_TEST(eventually([&] { return all.failed == 1 && here.links() == 0; }));
  BOOST_TEST(here.statistics().handler_errors == 1U);
}

BOOST_AUTO_TEST_CASE(a_connection_without_memory) {
  echo_server there(config{.listen = {"127.0.0.1:0"}}, echo);
  seen all;
  client_config c = config_for({model::loop_per_thread, flavour::callback}, all);
  c.on_connect_failed = [&](const connect_failure& f) {
    if (f.reason == boost::system::errc::not_enough_memory) ++all.right;
    ++all.failed;
  };
  client here(c, handler_factory([&all]() -> asking {
                if (all.opened >= 0) throw std::bad_alloc();
                return {&all};
              }));
  here.run_in_background();
  here.connect(there->addresses()[0]);
  BOOST_TEST(eventually([&] { return all.failed == 1 && here.links() == 0; }));
  BOOST_TEST(all.right == 1);
  BOOST_TEST(here.statistics().handler_errors == 0U);
}

}  // namespace
}  // namespace quintet::test
