// SPDX-License-Identifier: BSL-1.0
// log_test: the log lines of a server, in all five models; and running a server twice.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "client.hpp"
#include "combination.hpp"
#include "journal.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/server.hpp>

#include <atomic>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;

struct touchy {
  void operator()(connection& c, bytes in) const {
    if (in == "t") throw std::runtime_error("touched");
    c.write(in);
  }
};

struct touchy_coroutine {
  awaitable<> operator()(stream& s) const {
    while (const auto in = co_await s.read()) {
      const bool touched = *in == "t";
      co_await s.offload([touched] {
        if (touched) throw std::runtime_error("touched");
      });
      s.write(*in);
    }
  }
};

template <class Handler>
void check_throwing(model kind) {
  journal log;
  running<server> srv(config{.model = kind, .log = log.hook()}, Handler{});
  client good(srv->port()), bad(srv->port());
  good.send("x");
  BOOST_TEST(good.receive(1) == "x");
  BOOST_TEST(log.size() == 0U);  // normal operation logs nothing
  bad.send("t");
  BOOST_TEST(bad.receive_rest().empty());
  BOOST_TEST(log.has("warning: 127.0.0.1:", "a handler threw an exception: touched"));
  BOOST_TEST(log.size() == 1U);
}

BOOST_DATA_TEST_CASE(a_handler_that_throws, data::make(all_models), kind) {
  check_throwing<touchy>(kind);
  check_throwing<touchy_coroutine>(kind);
}

BOOST_DATA_TEST_CASE(a_limit_that_was_reached, data::make(all_models), kind) {
  journal log;
  const connection_limits l{.first_byte_timeout = std::chrono::milliseconds(20)};
  running<server> srv(config{.model = kind, .limits = l, .log = log.hook()}, touchy{});
  client silent(srv->port());
  BOOST_TEST(silent.receive_rest().empty());
  BOOST_TEST(log.has("info: 127.0.0.1:", "a connection is closed: nothing was received within first_byte_timeout"));
}

BOOST_DATA_TEST_CASE(a_refusal, data::make(all_models), kind) {
  journal log;
  running<server> srv(config{.model = kind, .accepting = {.max_connections_per_address = 1}, .log = log.hook()},
                      touchy{});
  client first(srv->port());
  first.send("x");
  BOOST_TEST(first.receive(1) == "x");
  client second(srv->port());
  BOOST_TEST(second.receive_rest().empty());
  BOOST_TEST(
      eventually([&] { return log.has("warning: 127.0.0.1:", "a connection is refused: max_connections_per"); }));
}

// Refused is what accept_limits and the thread model refuse: see doc/limits.md.
BOOST_DATA_TEST_CASE(a_handler_that_cannot_be_made_is_no_refusal, data::make(all_models), kind) {
  journal log;
  std::atomic<int> refusals{0};
  accept_limits limits;
  limits.on_refused = [&](error_code, const address&) {
    ++refusals;
    return std::string();
  };
  const auto make = []() -> touchy { throw std::runtime_error("touched"); };
  running<server> srv(config{.model = kind, .accepting = limits, .log = log.hook()}, handler_factory(make));
  client peer(srv->port());
  BOOST_TEST(peer.receive_rest().empty());
  BOOST_TEST(log.has("warning: 127.0.0.1:", "cannot open a connection: the handler threw an exception"));
  BOOST_TEST(!log.has("warning: ", "refused"));
  BOOST_TEST(log.size() == 1U);
  BOOST_TEST(srv->statistics().handler_errors == 1U);
  BOOST_TEST(srv->statistics().refused == 0U);
  BOOST_TEST(refusals == 0);
}

BOOST_DATA_TEST_CASE(a_server_runs_once, data::make(all_models), kind) {
  server srv(config{.model = kind}, touchy{});
  srv.stop();
  srv.run();
  BOOST_CHECK_THROW(srv.run(), std::logic_error);
}

}  // namespace
}  // namespace quintet::test
