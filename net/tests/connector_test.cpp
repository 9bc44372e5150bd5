// SPDX-License-Identifier: BSL-1.0
// connector_test: which addresses are tried, when, and who wins; and what the kernel's sockets do.
// ctest: EACH_ENGINE
#include <quintet/net/connector.hpp>
#include <quintet/net/engine/socket_services.hpp>
#include <quintet/net/simulation.hpp>

#include "needs.hpp"
#include "sockets.hpp"
#include "world.hpp"

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace quintet {
namespace {
using testing::simulation;

using namespace std::chrono_literals;

error_code system_error(int value) { return {value, boost::system::system_category()}; }

struct outcome {
  error_code failed;
  int handle = -1;
};

/// A loop on a network in memory, with connectors that report here.
struct simulated {
  simulation sim{1};
  event_loop& loop = sim.make_loop();
  std::optional<outcome> result;
  std::optional<connector> dialling;

  void start(const destination& to, const connect_options& options = {}) {
    dialling.emplace(loop, options, [this](error_code failed, stream_handle stream) {
      const int handle = stream.get();
      BOOST_TEST(!result);
      result = {failed, handle};
    });
    dialling->start(to);
    sim.run_until_quiet();
  }
  int listen(const char* at) { return loop.io().sockets().listen(listen_options(at)); }
  std::vector<std::string> tried() {
    std::vector<std::string> texts;
    for (const address& a : sim.network().attempts()) texts.push_back(a.to_string());
    return texts;
  }
};

std::vector<address> addresses(const std::vector<const char*>& texts) {
  std::vector<address> all;
  for (const char* t : texts) all.emplace_back(t);
  return all;
}
void silence(simulated& s, const std::vector<address>& all) {
  for (const address& a : all) s.sim.network().set_silent(a, true);
}

const std::vector<address> three = addresses({"[::1]:7", "[::2]:7", "127.0.0.1:7"});

}  // namespace

BOOST_AUTO_TEST_CASE(families_take_turns_beginning_with_the_first) {
  const auto order = [](const std::vector<const char*>& texts) {
    std::string all;
    for (const address& a : interleaved(addresses(texts))) all += a.host() + " ";
    return all;
  };
  BOOST_TEST(order({"[::1]:1", "[::2]:1", "[::3]:1", "1.1.1.1:1", "2.2.2.2:1"}) == "::1 1.1.1.1 ::2 2.2.2.2 ::3 ");
  BOOST_TEST(order({"1.1.1.1:1", "2.2.2.2:1", "[::1]:1"}) == "1.1.1.1 ::1 2.2.2.2 ");
  BOOST_TEST(order({"1.1.1.1:1", "2.2.2.2:1"}) == "1.1.1.1 2.2.2.2 ");
}

BOOST_AUTO_TEST_CASE(destinations) {
  BOOST_TEST(destination("db.example:5432").host() == "db.example");
  BOOST_TEST(destination("db.example:5432").port() == "5432");
  for (const char* good : {"127.0.0.1:80", "[::1]:80", "unix:/run/x", "unix:@x", "localhost:1", "a-b_c.d:65535"})
    BOOST_TEST(destination(good).to_string() == good);
  for (const char* bad : {"", "localhost", ":80", "localhost:", "localhost:65536", "1.2.3:80", "::1:80", "a b:80",
                          "unix:relative", "localhost:0", "127.0.0.1:0"})
    BOOST_CHECK_THROW(destination{bad}, config_error);
  BOOST_CHECK_THROW(destination(std::vector<address>()), config_error);
}

BOOST_AUTO_TEST_CASE(the_next_address_is_tried_after_the_delay_and_the_first_that_answers_wins) {
  simulated s;
  const int listening = s.listen("127.0.0.1:7");
  silence(s, three);
  s.start(destination(three));
  BOOST_TEST(s.tried() == std::vector<std::string>({"[::1]:7"}));
  s.sim.advance(249ms, 1ms);
  BOOST_TEST(s.tried().size() == 1U);
  s.sim.advance(1ms);
  BOOST_TEST(s.tried() == std::vector<std::string>({"[::1]:7", "127.0.0.1:7"}));
  s.sim.advance(250ms, 1ms);
  BOOST_TEST(s.tried().back() == "[::2]:7");
  BOOST_TEST(!s.result);
  s.sim.network().set_silent(three.back(), false);  // it answers late, and is first all the same
  s.sim.run_until_quiet();
  BOOST_REQUIRE(s.result);
  BOOST_TEST(!s.result->failed);
  BOOST_TEST(s.sim.network().open_handles() == 3U);  // a listener, and both ends: the others were closed
  s.sim.advance(1min, 1s);
  BOOST_TEST(s.tried().size() == 3U);
  s.loop.io().close(s.result->handle);
  s.loop.io().close(listening);
}

BOOST_AUTO_TEST_CASE(a_refused_address_costs_no_time) {
  simulated s;
  const int listening = s.listen("[::2]:7");
  s.start(destination(three));
  BOOST_REQUIRE(s.result);
  BOOST_TEST(!s.result->failed);
  BOOST_TEST(s.tried() == std::vector<std::string>({"[::1]:7", "127.0.0.1:7", "[::2]:7"}));
  s.loop.io().close(s.result->handle);
  s.loop.io().close(listening);
}

BOOST_AUTO_TEST_CASE(nobody_listens) {
  simulated s;
  s.start(destination(three));
  BOOST_REQUIRE(s.result);
  BOOST_TEST(s.result->failed == system_error(ECONNREFUSED));
  BOOST_TEST(s.sim.network().open_handles() == 0U);
}

// The last one to fail decides, and it may be one that was begun earlier.
BOOST_AUTO_TEST_CASE(an_attempt_that_is_under_way_is_waited_for) {
  simulated s;
  silence(s, {three[0]});
  s.start(destination(three));
  s.sim.advance(5s, 10ms);
  BOOST_TEST(s.tried().size() == 3U);
  BOOST_TEST(!s.result);
  s.sim.network().set_silent(three[0], false);
  s.sim.run_until_quiet();
  BOOST_REQUIRE(s.result);
  BOOST_TEST(s.result->failed == system_error(ECONNREFUSED));
}

BOOST_AUTO_TEST_CASE(the_time_limit_is_for_all_addresses_together) {
  simulated s;
  silence(s, three);
  s.start(destination(three), {.timeout = 2s});
  s.sim.advance(1999ms, 1ms);
  BOOST_TEST(!s.result);
  BOOST_TEST(s.sim.network().open_handles() == 3U);
  s.sim.advance(1ms);
  BOOST_REQUIRE(s.result);
  BOOST_TEST((s.result->failed == errc::connect_timeout));
  BOOST_TEST(s.sim.network().open_handles() == 0U);
}

BOOST_AUTO_TEST_CASE(who_destroys_it_is_not_called_and_nothing_stays_open) {
  simulated s;
  silence(s, three);
  s.start(destination(three));
  s.sim.advance(300ms);
  s.dialling.reset();
  s.sim.advance(1min, 1s);
  BOOST_TEST(!s.result);
  BOOST_TEST(s.sim.network().open_handles() == 0U);
}

BOOST_AUTO_TEST_CASE(a_loop_that_stops_ends_it) {
  simulated s;
  silence(s, three);
  s.start(destination(three));
  s.loop.stop();
  s.sim.run_until_quiet();
  BOOST_TEST(s.loop.finished());
  BOOST_REQUIRE(s.result);
  BOOST_TEST((s.result->failed == errc::stopped));
  s.result.reset();
  s.start(destination(three));  // too late
  BOOST_REQUIRE(s.result);
  BOOST_TEST((s.result->failed == errc::stopped));
  BOOST_TEST(s.sim.network().open_handles() == 0U);
}

namespace {

/// Begins an attempt for itself, which is the loop's next member, and gives it up when it is closed.
struct caller {
  std::shared_ptr<std::optional<connector>> dialling = std::make_shared<std::optional<connector>>();
  int* called;
  void on_open(connection& c) const {
    dialling->emplace(c.loop(), connect_options{}, [count = called](error_code, const stream_handle&) { ++*count; });
    (*dialling)->start(address("127.0.0.1:99"));
  }
  void operator()(connection&, bytes) const {}
  void on_close(connection&, error_code) const { dialling->reset(); }
};

}  // namespace

BOOST_DATA_TEST_CASE(a_handler_gives_one_up_while_the_loop_stops, boost::unit_test::data::make(testing::shapes), form) {
  if (form.pooled) return;  // on_close is not on the loop's thread then
  int called = 0;
  testing::world<caller> w(1, form, caller{.called = &called});
  w.sim.network().set_silent(address("127.0.0.1:99"), true);
  for (int i = 0; i < 3; ++i) w.connect();
  w.stop();
  BOOST_TEST(called == 0);
}

BOOST_AUTO_TEST_CASE(the_longest_limits_are_none) {
  simulated s;
  silence(s, three);
  s.start(destination(three), {.timeout = duration::max()});
  s.sim.advance(1h, 1min);
  BOOST_TEST(!s.result);
  BOOST_TEST(s.tried().size() == 3U);
}

BOOST_AUTO_TEST_CASE(options_that_cannot_be) {
  BOOST_CHECK_THROW(validate(connect_options{.socket = {.keep_alive = -1s}}), config_error);
  BOOST_CHECK_THROW(validate(connect_options{.socket = {.user_timeout = 25h}}), config_error);
  BOOST_CHECK_THROW(validate(connect_options{.timeout = -1s}), config_error);
  validate(connect_options{.timeout = 0s});
}

namespace {

/// Runs a real loop until the connector has reported.
outcome connect_for_real(event_loop& loop, const destination& to) {
  outcome result;
  connector c(loop, {}, [&](error_code failed, stream_handle stream) {
    const int handle = stream.get();
    result = {failed, handle};
    loop.stop();
  });
  c.start(to);
  loop.run();
  return result;
}

}  // namespace

BOOST_AUTO_TEST_CASE(sockets_of_every_kind_are_connected_and_blocking) {
  const testing::scratch_directory directory;
  for (const std::string& at : {std::string("127.0.0.1:0"), std::string(testing::another_loopback()),
                                "unix:" + directory.file("s"), std::string("unix:@quintet-connector-test")}) {
    event_loop loop;
    const int listening = loop.io().sockets().listen(listen_options(at));
    const outcome o = connect_for_real(loop, loop.io().sockets().local_address(listening));
    BOOST_TEST_CONTEXT(at) {
      BOOST_TEST(o.failed == error_code());
      BOOST_TEST((::fcntl(o.handle, F_GETFL) & O_NONBLOCK) == 0);
      BOOST_TEST((::fcntl(o.handle, F_GETFD) & FD_CLOEXEC) != 0);
    }
    loop.io().close(o.handle);
    loop.io().close(listening);
  }
}

BOOST_AUTO_TEST_CASE(what_the_system_says_is_the_reason) {
  event_loop first, second, third, fourth;
  const testing::own_address nobody;
  BOOST_TEST(connect_for_real(first, nobody.at()).failed == system_error(ECONNREFUSED));
  BOOST_TEST(connect_for_real(second, "unix:/nowhere/at.all").failed == system_error(ENOENT));
  BOOST_TEST(connect_for_real(third, "a..b:80").failed.failed());  // no name: the resolver's own reason
  fourth.stop();
  BOOST_TEST((connect_for_real(fourth, "localhost:80").failed == errc::stopped));
}

// A loop whose engine blocks waits in its guest, which opens three descriptors.
BOOST_AUTO_TEST_CASE(without_descriptors_an_attempt_fails) {
  event_loop listens;
  const int listening = listens.io().sockets().listen(listen_options("127.0.0.1:0"));
  const address there = listens.io().sockets().local_address(listening);
  for (std::size_t left = 0; left < 6; ++left) {
    event_loop loop(make_blocking_engine());
    outcome o;
    {
      const testing::no_descriptors none(left);
      o = connect_for_real(loop, there);
    }
    BOOST_TEST_CONTEXT(left << " descriptors: " << o.failed) {
      BOOST_TEST((o.failed ? o.failed == system_error(EMFILE) : o.handle >= 0));
      BOOST_TEST((left > 0 || o.failed));
      BOOST_TEST((left < 5 || !o.failed));
    }
    if (o.handle >= 0) loop.io().close(o.handle);
  }
  listens.io().close(listening);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(testing::needs_localhost))
BOOST_AUTO_TEST_CASE(a_name_is_looked_up) {
  event_loop loop;
  const int listening = loop.io().sockets().listen(listen_options("127.0.0.1:0"));
  const outcome o =
      connect_for_real(loop, "localhost:" + std::to_string(loop.io().sockets().local_address(listening).port()));
  BOOST_TEST(o.failed == error_code());
  loop.io().close(o.handle);
  loop.io().close(listening);
}

namespace {

struct recording_channel : connect_channel {
  std::optional<error_code> result;
  void on_connected(error_code r) noexcept override { result = r; }
};

}  // namespace

// The kernel does this for a port of the ephemeral range that nobody listens on, once in some ten thousand attempts.
BOOST_AUTO_TEST_CASE(a_socket_that_is_connected_to_itself_is_refused) {
  file_descriptor fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in self{};
  self.sin_family = AF_INET;
  self.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof self;
  BOOST_REQUIRE(::bind(fd.get(), reinterpret_cast<sockaddr*>(&self), size) == 0);
  BOOST_REQUIRE(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&self), &size) == 0);
  (void)::connect(fd.get(), reinterpret_cast<sockaddr*>(&self), size);
  const auto io = make_default_engine();
  recording_channel c;
  BOOST_REQUIRE(!io->add(c, fd.get()));
  while (!c.result) io->poll(engine::forever);
  BOOST_TEST(*c.result == system_error(ECONNREFUSED));
  BOOST_TEST(c.handle() == -1);
  // Nor does it keep the port from a server, in TIME_WAIT.
  fd.reset();
  const file_descriptor server(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  BOOST_TEST(::bind(server.get(), reinterpret_cast<sockaddr*>(&self), size) == 0);
}

}  // namespace quintet
